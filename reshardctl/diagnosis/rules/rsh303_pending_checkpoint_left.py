"""RSH303, see `pages/RSH303.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies
from reshardctl.model import AnomalyKind

CODE, NAME = "RSH303", "pending-checkpoint-left"


def match(view: View) -> Iterator[Finding]:
    """Info: the application gets it at its next start."""
    what = "a prepared checkpoint was never committed; the application is told of it"
    anomalies = view.anomalies_of(AnomalyKind.PENDING)
    yield from from_anomalies(CODE, NAME, anomalies, Severity.INFO, what)
