"""RSH301, see `pages/RSH301.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, earliest, rule, shards_of
from reshardctl.diagnosis.rules.families import unreadable
from reshardctl.model import AnomalyKind, Cause, ShardId, WillRead
from reshardctl.planning.effects import Harm


@rule("RSH301", "unreadable-entry")
def unreadable_entry(view: View) -> Iterator[Found]:
    """Error: the shard is not read, or the whole consumer crashes, by release."""
    if kept := view.anomalies_of(AnomalyKind.NOT_KEPT):
        what = f"no position can be saved: {'; '.join(o.why for o in kept)}"
        costs = "each start reads again what was read since the stored position"
        yield Found(Severity.ERROR, (), what, costs)
    anomalies = unreadable(view)
    if not anomalies:
        yield from _missing(view)
        return
    why = "; ".join(dict.fromkeys(o.why for o in anomalies))
    costs = "nothing of such a shard is read"
    if crashes := view.harmed(Harm.CRASHES, Cause.UNREADABLE):
        costs = crashes[0].why
    elif all(_as_without_it(view, anomaly.shard) for anomaly in anomalies):
        costs = "the consumer goes on as if there were no such row"
    stalls = tuple(e for e in view.harmed(Harm.STALLED, Cause.UNREADABLE) if not e.by)
    yield Found(
        Severity.ERROR, shards_of(anomalies), f"rows that cannot be read: {why}", costs,
        (*crashes, *stalls), earliest(stalls),
    )


def _as_without_it(view: View, shard: ShardId | None) -> bool:
    fate = view.simulation.fates.get(shard) if shard is not None else None
    return isinstance(fate, WillRead) and fate.cause in (Cause.REFILLED, Cause.BOOTSTRAP)


def _missing(view: View) -> Iterator[Found]:
    """Files that are missing, so cannot be read. Mistyped parents are RSH305's."""
    if view.anomalies_of(AnomalyKind.PARENTS_UNREADABLE):
        return
    if crashes := view.harmed(Harm.CRASHES, Cause.UNREADABLE):
        what = "what the consumer reads first is missing or incomplete"
        yield Found(Severity.ERROR, (), what, crashes[0].why, tuple(crashes))
