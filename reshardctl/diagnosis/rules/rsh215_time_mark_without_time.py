"""RSH215, see `pages/RSH215.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH215", "time-mark-without-time")
def time_mark_without_time(view: View) -> Iterator[Found]:
    """Error or warning: the shard cannot be started, and neither can its children."""
    effects = view.harmed(Harm.STALLED, Cause.TIME_WITHOUT_CLOCK)
    what = "is at AT_TIMESTAMP, and the application is not started by time"
    costs = "the consumer fails on it for ever; nothing is read"
    yield from of_effects(effects, what, costs)
    gone = tuple(
        shard for shard, fate in view.simulation.fates.items()
        if fate.cause is Cause.TIME_WITHOUT_CLOCK and shard not in view.lineage
    )
    if gone:
        costs = "the shard is gone, but the consumer never ends it, and its children wait"
        yield Found(Severity.ERROR, gone, what, costs)
