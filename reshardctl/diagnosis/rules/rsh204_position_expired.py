"""RSH204, see `pages/RSH204.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH204", "position-expired")
def position_expired(view: View) -> Iterator[Found]:
    """Warning: records may be gone; an error where the consumer crashes at an expired shard."""
    if crashes := view.harmed(Harm.CRASHES, Cause.GONE):
        shards = tuple(s for e in crashes for s in e.by)
        what = "the shard is not listed any more, and the consumer still wants it"
        yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    if crashes := view.harmed(Harm.CRASHES, Cause.EXPIRED):
        shards = tuple(s for e in crashes for s in e.by)
        what = "the position is older than the stream's retention"
        helps = "started once with failOnDataLoss=false it goes on at the oldest record left"
        yield Found(
            Severity.ERROR, shards, what, crashes[0].why, tuple(crashes), helps=helps
        )
        return
    effects = [e for e in view.harmed(Harm.SKIPPED) if e.gone]
    what = "the position is older than the stream's retention, or the shard has expired"
    costs = "records after it may be gone already; nothing brings them back"
    yield from of_effects(
        effects, what, costs, Severity.WARNING,
        "--probe tells an idle shard from a loss"
    )
