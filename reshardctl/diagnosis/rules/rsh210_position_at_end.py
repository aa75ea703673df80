"""RSH210, see `pages/RSH210.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH210", "position-at-end"


def match(view: View) -> Iterator[Finding]:
    """Warning: Kinesis's answer to the number is not known; an error where the consumer crashes."""
    effects = [e for e in view.effects if e.cause is Cause.AT_END and e.harm is Harm.STALLED]
    what = "its position is the shard's EndingSequenceNumber, which is no record's number"
    costs = "; ".join(dict.fromkeys(e.why for e in effects))
    yield from from_effects(CODE, NAME, effects, what, costs, Severity.WARNING)
    if crashes := view.harmed(Harm.CRASHES, Cause.AT_END):
        shards = tuple(s for e in crashes for s in e.by)
        yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
