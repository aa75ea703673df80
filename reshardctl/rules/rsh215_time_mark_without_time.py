"""A start by time, without the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects

CODE, NAME = "RSH215", "time-mark-without-time"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard cannot be started, and neither can its children."""
    found = view.harmed(Harm.STALLED, Cause.TIME_WITHOUT_CLOCK)
    what = "stands at AT_TIMESTAMP, and the application is not started by time"
    costs = "the consumer fails on it for ever; it is not read"
    yield from from_effects(CODE, NAME, found, what, costs)
