"""RSH218, see `pages/RSH218.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.diagnosis.rules.base import Finding, Found, Severity, View, of_effects, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Effect, Harm

LOSSES = (
    (Harm.SKIPPED, "the next start begins after unread records",
     "the records before that are lost once they expire"),
    (Harm.STALLED, "the next start never reads the rest of this shard",
     "its unread records are lost once they expire"),
    (Harm.CRASHES, "the consumer may crash at its start, and reads nothing then", ""),
)
"""A loss, what a finding says of it, and what it costs: of a crash, what crashes it."""


@rule("RSH218", "unread-skipped", last=True)
def unread_skipped(view: View) -> Iterator[Found]:
    """Report a loss that none of `view.findings` explains: an error where it is certain."""
    if view.findings is None:
        return
    for harm, what, costs in LOSSES:
        left = [e for e in view.harmed(harm) if not _explained(e, view.findings)]
        if left and (not costs or all(e.cause is Cause.TIME_NOT_PASSED for e in left)):
            costs = left[0].why
        yield from of_effects(left, what, costs)


def _explained(effect: Effect, findings: Sequence[Finding]) -> bool:
    """Whether a finding lists the effect, or lists no effects and explains it all the same.

    The latter is a warning or an error of the effect's shard, or an error of the whole consumer.
    """
    return any(
        effect in finding.effects or (not finding.effects and (
            (effect.shard in finding.shards and finding.severity > Severity.INFO)
            or (not finding.shards and finding.severity is Severity.ERROR)
        ))
        for finding in findings
    )
