"""RSH402, see `pages/RSH402.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies
from reshardctl.model import AnomalyKind

CODE, NAME = "RSH402", "leader-lock-left"


def match(view: View) -> Iterator[Finding]:
    """Info: after a crash nothing may start for up to two minutes."""
    what = "a leader lock is in place: after a crash nothing starts until it is two minutes old"
    anomalies = view.anomalies_of(AnomalyKind.LEADER_LEFT)
    yield from from_anomalies(CODE, NAME, anomalies, Severity.INFO, what)
