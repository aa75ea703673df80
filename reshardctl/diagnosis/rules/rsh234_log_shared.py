"""RSH234, see `pages/RSH234.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.model import Cause

CODE, NAME = "RSH234", "log-shared"


def match(view: View) -> Iterator[Finding]:
    """Warning: no row shows what it did to earlier batches and will do to later ones."""
    for risk in view.simulation.risks:
        if risk.cause is Cause.SHARED_LOG:
            yield Finding(
                CODE, NAME, Severity.WARNING, risk.shards,
                "its log has rows of batches that this query has not planned", risk.why,
                helps=risk.helps,
            )
