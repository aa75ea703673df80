"""RSH212, see `pages/RSH212.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies, shards_of
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH212", "position-before-birth"


def match(view: View) -> Iterator[Finding]:
    """Warning: a future shard would begin finished; an error where the consumer crashes."""
    what = "positions of shards that do not exist yet"
    costs = "once such a shard exists, it is taken for finished, or its number is refused"
    anomalies = view.anomalies_of(AnomalyKind.UNBORN)
    if crashes := view.harmed(Harm.CRASHES, Cause.UNBORN):
        if anomalies:
            shards = shards_of(anomalies)
            yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    yield from from_anomalies(CODE, NAME, anomalies, Severity.WARNING, what, costs)
