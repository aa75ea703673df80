"""RSH302, see `pages/RSH302.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.model import AnomalyKind
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH302", "foreign-entry"


def match(view: View) -> Iterator[Finding]:
    """Info; an error where the starting release crashes."""
    anomalies = view.anomalies_of(AnomalyKind.FOREIGN_ENTRY)
    if not anomalies:
        return
    crashes = view.harmed(Harm.CRASHES, None)
    severity = Severity.ERROR if crashes else Severity.INFO
    kinds = ", ".join(dict.fromkeys(o.raw for o in anomalies))
    yield Finding(
        CODE, NAME, severity, (), f"rows that are no positions ({kinds}); they are never touched",
        crashes[0].why if crashes else "", tuple(crashes),
    )
