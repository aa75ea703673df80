"""What several rules ask about a shard's parents and about merges."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import View
from reshardctl.model import DONE, Anomaly, AnomalyKind, Cause, Fate, ShardId, WillRead, WontRead

_WITHOUT_ROW = {
    Cause.NO_POSITION, Cause.REFILLED, Cause.CREATED_AT_PARENT_END, Cause.BOOTSTRAP,
}


def has_row(view: View, shard: ShardId) -> bool:
    """Whether the store holds a position of the shard."""
    fate = view.simulation.fates.get(shard)
    return fate is not None and fate.cause not in _WITHOUT_ROW


def is_open(view: View, shard: ShardId | None) -> bool:
    """Whether the shard is listed and open."""
    return shard is not None and shard in view.lineage and view.lineage.is_open(shard)


def is_closed(view: View, shard: ShardId | None) -> bool:
    """Whether the shard is listed and closed."""
    return shard is not None and shard in view.lineage and not view.lineage.is_open(shard)


def below_a_row(view: View, shard: ShardId | None) -> bool:
    """Whether a parent of the shard has a position, so that no refill creates one for the shard."""
    return any(has_row(view, p) for p in _parents(view, shard))


def waits_for_a_parent(view: View, shard: ShardId | None) -> bool:
    """Whether only an ancestor that is never read keeps the shard from being started.

    A shard whose own children have positions was started once, and has lost its position.
    """
    if shard is not None and any(has_row(view, c) for c in view.lineage.children(shard)):
        return False
    return any(
        isinstance(fate := view.simulation.fates.get(p), WontRead)
        and fate.cause is Cause.NO_POSITION
        and view.processed[p].lo != DONE
        for p in _parents(view, shard)
    )


def unreadable(view: View) -> list[Anomaly]:
    """Rows that the consumer cannot read, including those that only this release cannot."""
    fates = view.simulation.fates
    return [
        *view.anomalies_of(AnomalyKind.UNREADABLE),
        *(
            anomaly for anomaly in view.anomalies_of(AnomalyKind.UNREADABLE_TO_SOME)
            if anomaly.shard is not None and anomaly.shard in fates
            and fates[anomaly.shard].cause is Cause.UNREADABLE
        ),
    ]


def merges_without_a_parent(view: View) -> Iterator[tuple[ShardId, ShardId]]:
    """Pairs of an unfinished parent of a merge and its co-parent without a position."""
    for missing, fate in view.simulation.fates.items():
        if fate.cause not in (Cause.NO_POSITION, Cause.REFILLED) or missing not in view.lineage:
            continue
        children = view.lineage.children(missing)
        for other in view.lineage.parents(children[0]) if len(children) == 1 else ():
            partner = view.simulation.fates.get(other)
            if other == missing or not isinstance(partner, WillRead) or not has_row(view, other):
                continue
            if partner.cause is not Cause.FINISHED and _held_up(partner, fate):
                yield other, missing


def _held_up(partner: WillRead, missing: Fate) -> bool:
    """Whether the parent's end waits for the missing one.

    It does not if that one is refilled at the start, or if ends do not depend on it (KCL 1.0–1.13
    and 2.0–2.2).
    """
    return missing.delay.most > 0 if isinstance(missing, WillRead) else not partner.ends


def never_ending(view: View) -> Iterator[ShardId]:
    """Closed shards that are read and cannot end: the other parent of their merge is missing."""
    fates = view.simulation.fates
    unread = {anomaly.shard for anomaly in unreadable(view)}
    unread |= {shard for shard, fate in fates.items() if fate.cause is Cause.UNREADABLE}
    for shard, fate in view.simulation.fates.items():
        endless = isinstance(fate, WillRead) and not fate.ends and is_closed(view, shard)
        # An end also fails if a child's row cannot be read, which has a finding of its own.
        if endless and unread.isdisjoint(view.lineage.children(shard)):
            yield shard


def _parents(view: View, shard: ShardId | None) -> tuple[ShardId, ...]:
    if shard is None or shard not in view.lineage:
        return ()
    return view.lineage.parents(shard)
