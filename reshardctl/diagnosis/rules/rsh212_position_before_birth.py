"""RSH212, see `pages/RSH212.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import (
    Found,
    Severity,
    View,
    of_anomalies,
    rule,
    shards_of,
)
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm


@rule("RSH212", "position-before-birth")
def position_before_birth(view: View) -> Iterator[Found]:
    """Warning: a future shard would begin finished; an error where the consumer crashes."""
    what = "positions of shards that do not exist yet"
    costs = "once such a shard exists, it is taken for finished, or its number is refused"
    anomalies = view.anomalies_of(AnomalyKind.UNBORN)
    if crashes := view.harmed(Harm.CRASHES, Cause.UNBORN):
        if anomalies:
            shards = shards_of(anomalies)
            yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    yield from of_anomalies(anomalies, Severity.WARNING, what, costs)
