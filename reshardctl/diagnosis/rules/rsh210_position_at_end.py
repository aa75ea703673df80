"""RSH210, see `pages/RSH210.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH210", "position-at-end")
def position_at_end(view: View) -> Iterator[Found]:
    """Warning: Kinesis's answer to the number is not known; an error where the consumer crashes."""
    effects = [e for e in view.effects if e.cause is Cause.AT_END and e.harm is Harm.STALLED]
    what = "its position is the shard's EndingSequenceNumber, which is no record's number"
    costs = "; ".join(dict.fromkeys(e.why for e in effects))
    yield from of_effects(effects, what, costs, Severity.WARNING)
    if crashes := view.harmed(Harm.CRASHES, Cause.AT_END):
        shards = tuple(s for e in crashes for s in e.by)
        yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
