"""Rules on rows and files apart from their positions: unreadable, foreign, left over.

These are RSH234, RSH301 to RSH307 and RSH402.
"""

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
from reshardctl.diagnosis.rules.starts import unreadable
from reshardctl.model import AnomalyKind, Cause, ShardId, WillRead
from reshardctl.planning.effects import Effect, Harm


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


@rule("RSH301", "unreadable-entry")
def unreadable_entry(view: View) -> Iterator[Found]:
    """Error: the shard is not read, or the whole consumer crashes, by release."""
    if kept := view.anomalies_of(AnomalyKind.NOT_KEPT):
        what = f"no position can be saved: {'; '.join(o.why for o in kept)}"
        costs = "each start reads again what was read since the stored position"
        yield Found(Severity.ERROR, (), what, costs)
    anomalies = unreadable(view)
    if not anomalies:
        yield from _missing_files(view)
        return
    why = "; ".join(dict.fromkeys(o.why for o in anomalies))
    costs = "nothing of such a shard is read"
    if crashes := view.harmed(Harm.CRASHES, Cause.UNREADABLE):
        costs = _without_cause(crashes[0], why)
    elif all(_as_without_it(view, anomaly.shard) for anomaly in anomalies):
        costs = "the consumer goes on as if there were no such row"
    stalls = tuple(e for e in view.harmed(Harm.STALLED, Cause.UNREADABLE) if not e.by)
    yield Found(
        Severity.ERROR, shards_of(anomalies), f"rows that cannot be read: {why}", costs,
        (*crashes, *stalls),
    )


def _without_cause(crash: Effect, why: str) -> str:
    """What a crash costs, without the cause that `why` has told already."""
    if crash.why in why:
        return f"the consumer {'crashes' if crash.certain else 'may crash'} at its start"
    head, _, cause = crash.why.partition(": ")
    return head if cause and cause in why else crash.why


def _as_without_it(view: View, shard: ShardId | None) -> bool:
    fate = view.simulation.fates.get(shard) if shard is not None else None
    return isinstance(fate, WillRead) and fate.cause in (Cause.REFILLED, Cause.BOOTSTRAP)


def _missing_files(view: View) -> Iterator[Found]:
    """Files that are missing, so cannot be read. Mistyped parents are RSH305's."""
    if view.anomalies_of(AnomalyKind.PARENTS_UNREADABLE):
        return
    if crashes := view.harmed(Harm.CRASHES, Cause.UNREADABLE):
        what = "what the consumer reads first is missing or incomplete"
        yield Found(Severity.ERROR, (), what, crashes[0].why, tuple(crashes))


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


@rule("RSH303", "pending-checkpoint-left")
def pending_checkpoint_left(view: View) -> Iterator[Found]:
    """Info: the application gets it at its next start."""
    what = "a prepared checkpoint was never committed; the application is told of it"
    anomalies = view.anomalies_of(AnomalyKind.PENDING)
    yield from of_anomalies(anomalies, Severity.INFO, what)


@rule("RSH304", "end-with-subsequence")
def end_with_subsequence(view: View) -> Iterator[Found]:
    """Error: the shard never ends, its children wait for ever; info where the release ends it."""
    anomalies = view.anomalies_of(AnomalyKind.END_WITH_SUB)
    fates = view.simulation.fates
    loops = [
        anomaly for anomaly in anomalies
        if anomaly.shard is not None and anomaly.shard in fates
        and fates[anomaly.shard].cause is Cause.BAD_END_MARK
    ]
    if not loops:
        what = "SHARD_END with a sub-sequence number, which this release takes for an end"
        yield from of_anomalies(anomalies, Severity.INFO, what)
        return
    # Only an open shard has unread records; a closed one has been read to its end.
    stalls = view.harmed(Harm.STALLED, Cause.BAD_END_MARK)
    what = "SHARD_END with a sub-sequence number: the consumer asks for it as a number, for ever"
    costs = "the shard never ends, and its children are never read"
    yield Found(Severity.ERROR, shards_of(anomalies), what, costs, tuple(stalls))


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


@rule("RSH306", "handoff-in-progress")
def handoff_in_progress(view: View) -> Iterator[Found]:
    """Info: the consumer itself completes or reverts it."""
    what = "a hand-off between two workers is under way, or was when they stopped"
    anomalies = view.anomalies_of(AnomalyKind.HAND_OFF)
    yield from of_anomalies(anomalies, Severity.INFO, what)


@rule("RSH307", "unreadable-beside")
def unreadable_beside(view: View) -> Iterator[Found]:
    """Error: nothing starts that has to list the whole store first."""
    anomalies = view.anomalies_of(AnomalyKind.UNREADABLE_STORE)
    what = "beside this one cannot be read: " + "; ".join(o.why for o in anomalies)
    costs = "listing all indexes fails, so no source of any of them is scheduled at a start"
    yield from of_anomalies(anomalies, Severity.ERROR, what, costs)


@rule("RSH402", "leader-lock-left")
def leader_lock_left(view: View) -> Iterator[Found]:
    """Info: after a crash nothing may start for up to two minutes."""
    what = "a leader lock is in place: after a crash nothing starts until it is two minutes old"
    anomalies = view.anomalies_of(AnomalyKind.LEADER_LEFT)
    yield from of_anomalies(anomalies, Severity.INFO, what)
