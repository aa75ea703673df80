"""RSH306, see `pages/RSH306.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies
from reshardctl.model import AnomalyKind

CODE, NAME = "RSH306", "handoff-in-progress"


def match(view: View) -> Iterator[Finding]:
    """Info: the consumer itself completes or reverts it."""
    what = "a hand-off between two workers is under way, or was when they stopped"
    anomalies = view.anomalies_of(AnomalyKind.HAND_OFF)
    yield from from_anomalies(CODE, NAME, anomalies, Severity.INFO, what)
