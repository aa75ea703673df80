"""RSH303, see `pages/RSH303.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_anomalies, rule
from reshardctl.model import AnomalyKind


@rule("RSH303", "pending-checkpoint-left")
def pending_checkpoint_left(view: View) -> Iterator[Found]:
    """Info: the application gets it at its next start."""
    what = "a prepared checkpoint was never committed; the application is told of it"
    anomalies = view.anomalies_of(AnomalyKind.PENDING)
    yield from of_anomalies(anomalies, Severity.INFO, what)
