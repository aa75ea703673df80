"""RSH306, see `pages/RSH306.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_anomalies, rule
from reshardctl.model import AnomalyKind


@rule("RSH306", "handoff-in-progress")
def handoff_in_progress(view: View) -> Iterator[Found]:
    """Info: the consumer itself completes or reverts it."""
    what = "a hand-off between two workers is under way, or was when they stopped"
    anomalies = view.anomalies_of(AnomalyKind.HAND_OFF)
    yield from of_anomalies(anomalies, Severity.INFO, what)
