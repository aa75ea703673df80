"""RSH234, see `pages/RSH234.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, rule
from reshardctl.model import Cause


@rule("RSH234", "log-shared")
def log_shared(view: View) -> Iterator[Found]:
    """Warning: no row shows what it did to earlier batches and will do to later ones."""
    for risk in view.simulation.risks:
        if risk.cause is Cause.SHARED_LOG:
            yield Found(
                Severity.WARNING, risk.shards,
                "its log has rows of batches that this query has not planned", risk.why,
                helps=risk.helps,
            )
