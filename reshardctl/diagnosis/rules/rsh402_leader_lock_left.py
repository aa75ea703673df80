"""RSH402, see `pages/RSH402.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_anomalies, rule
from reshardctl.model import AnomalyKind


@rule("RSH402", "leader-lock-left")
def leader_lock_left(view: View) -> Iterator[Found]:
    """Info: after a crash nothing may start for up to two minutes."""
    what = "a leader lock is in place: after a crash nothing starts until it is two minutes old"
    anomalies = view.anomalies_of(AnomalyKind.LEADER_LEFT)
    yield from of_anomalies(anomalies, Severity.INFO, what)
