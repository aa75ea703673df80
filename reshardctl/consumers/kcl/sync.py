"""KCL's first leases, its hash-range auditor, and the synchronisation that this triggers.

Source: PeriodicShardSyncManager and HierarchicalShardSyncer.NonEmptyLeaseTableSynchronizer, the
same in 1.14–1.15 and 2.3–3.5.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from reshardctl.consumers.kcl.app import Start
from reshardctl.lineage import Lineage, uncovered
from reshardctl.model import HASH_SPACE, ShardId

AUDITS = (300.0, 420.0)
"""Seconds until a hole is refilled at stock settings: 60 s, then three audits two minutes apart."""


def has_hole(active: Iterable[tuple[int, int]]) -> bool:
    """Whether the auditor sees a part of the hash space without unfinished leases.

    The range that starts last must reach the end, even where an earlier, longer one does (KCL 3.5.1
    PeriodicShardSyncManager.checkForHoleInHashKeyRanges).
    """
    ranges = sorted(active)
    last = HASH_SPACE - 1
    return not ranges or ranges[-1][1] != last or bool(uncovered(ranges, 0, last))


def missing_leases(
    lineage: Lineage, leased: Collection[ShardId], initial: Start
) -> dict[ShardId, bool]:
    """The leases that one synchronisation creates: shard → whether at the initial position.

    The others are created at TRIM_HORIZON. A finished lease counts as leased; that is why every
    audit sees a hole below a finished parent and none refills it.
    """
    new: dict[ShardId, bool] = {}
    descends: dict[ShardId, bool] = {}
    roots_wanted: set[ShardId] = set()
    orphans = [s for s in lineage.open_shards() if s not in leased]
    for shard in with_unleased_ancestors(lineage, orphans, leased):
        parents = lineage.parents(shard)
        known = {p for p in parents if descends.get(p, p in leased) or p in roots_wanted}
        descends[shard] = bool(known)
        if known:
            for parent in parents:
                if parent in leased:
                    continue
                if parent in roots_wanted or parent not in known:
                    new.setdefault(parent, True)
                if parent in new:
                    new[parent] = not (parent in known and initial is not Start.AT_TIMESTAMP)
        elif initial is not Start.LATEST:
            roots_wanted.add(shard)
    for shard in orphans:
        if not descends[shard]:
            new[shard] = True
    return new


def first_shards(lineage: Lineage, initial: Start, time: float | None) -> list[ShardId]:
    """The shards that get a lease where KCL lists none: those open at the start position."""
    if initial is Start.LATEST:
        return list(lineage.open_shards())
    began = (t for s in lineage.roots() if (t := lineage.opened_at(s)))
    if initial is Start.AT_TIMESTAMP and time is not None and time > min(began, default=0.0):
        return [s for s in lineage if _open_at(lineage, s, time)]
    return list(lineage.roots())


def _open_at(lineage: Lineage, shard: ShardId, time: float) -> bool:
    opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
    return (opened is None or opened <= time) and (closed is None or closed >= time)


def with_unleased_ancestors(
    lineage: Lineage, shards: Iterable[ShardId], leased: Collection[ShardId]
) -> list[ShardId]:
    """The shards and every ancestor up to the first leased one, oldest first."""
    seen: set[ShardId] = set()
    todo = list(shards)
    while todo:
        shard = todo.pop()
        if shard not in seen:
            seen.add(shard)
            todo += [p for p in lineage.parents(shard) if p not in leased]
    return [shard for shard in lineage if shard in seen] if len(seen) > 64 else sorted(seen)
