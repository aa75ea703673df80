"""RSH404, see `pages/RSH404.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH404", "time-in-the-future")
def time_in_the_future(view: View) -> Iterator[Found]:
    """Error: the shard is not read before that time; a warning where no row shows which one."""
    for crash in view.harmed(Harm.CRASHES, Cause.CLOCK_AHEAD):
        at = "its position is a time that lies in the future"
        yield Found(Severity.ERROR, crash.by, at, crash.why, (crash,))
    what = "held by a time that lies in the future"
    held = [e for e in view.harmed(Harm.STALLED, Cause.CLOCK_AHEAD) if e.certain]
    for why in dict.fromkeys(effect.why for effect in held):
        yield from of_effects([e for e in held if e.why == why], what, why)
    for risk in view.simulation.risks:
        if risk.cause is Cause.CLOCK_AHEAD:
            yield Found(
                Severity.WARNING, risk.shards, what, risk.why, helps=risk.helps
            )
