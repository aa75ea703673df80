"""RSH307, see `pages/RSH307.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_anomalies, rule
from reshardctl.model import AnomalyKind


@rule("RSH307", "unreadable-beside")
def unreadable_beside(view: View) -> Iterator[Found]:
    """Error: nothing starts that has to list the whole store first."""
    anomalies = view.anomalies_of(AnomalyKind.UNREADABLE_STORE)
    what = "beside this one cannot be read: " + "; ".join(o.why for o in anomalies)
    costs = "listing all indexes fails, so no source of any of them is scheduled at a start"
    yield from of_anomalies(anomalies, Severity.ERROR, what, costs)
