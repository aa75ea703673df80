"""RSH302, see `pages/RSH302.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, rule
from reshardctl.model import AnomalyKind
from reshardctl.planning.effects import Harm


@rule("RSH302", "foreign-entry")
def foreign_entry(view: View) -> Iterator[Found]:
    """Info; an error where the starting release crashes."""
    anomalies = view.anomalies_of(AnomalyKind.FOREIGN_ENTRY)
    if not anomalies:
        return
    crashes = view.harmed(Harm.CRASHES, None)
    severity = Severity.ERROR if crashes else Severity.INFO
    kinds = ", ".join(dict.fromkeys(o.raw for o in anomalies))
    yield Found(
        severity, (), f"rows that are no positions ({kinds}); they are never touched",
        crashes[0].why if crashes else "", tuple(crashes),
    )
