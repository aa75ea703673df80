"""RSH305, see `pages/RSH305.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import (
    Found,
    Severity,
    View,
    of_anomalies,
    rule,
    shards_of,
)
from reshardctl.diagnosis.rules.families import unreadable
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm

PARENTS = "parentShardId"


@rule("RSH305", "parents-unreadable")
def parents_unreadable(view: View) -> Iterator[Found]:
    """Error where the consumer crashes, warning where the order depends on it, else info."""
    anomalies = view.anomalies_of(AnomalyKind.PARENTS_UNREADABLE)
    crashes = view.harmed(Harm.CRASHES, Cause.UNREADABLE)
    if anomalies and crashes and not unreadable(view):
        what = "sets of shards on rows that are no string sets"
        yield Found(
            Severity.ERROR, shards_of(anomalies), what, crashes[0].why, tuple(crashes)
        )
        return
    loose = {e.shard for e in view.harmed(Harm.DISORDERED) if not e.past}
    for needed in (True, False):
        some = [o for o in anomalies if (o.shard in loose) is needed]
        severity = Severity.WARNING if needed else Severity.INFO
        parents = any(PARENTS in anomaly.why for anomaly in some)
        what = f"{PARENTS} is no string set and is read as empty: the shard waits for no parent"
        if not parents:
            what = "childShardIds is no string set and is read as empty"
        yield from of_anomalies(some, severity, what)
