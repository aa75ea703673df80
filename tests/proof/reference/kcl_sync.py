"""Which leases KCL creates beside the ends of shards (HierarchicalShardSyncer, same in 2.7/3.5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.proof.reference.kcl_lease import AT_TIMESTAMP, LATEST, TRIM_HORIZON
from tests.proof.reference.kcl_stream import HASH_END, Initial, Shard, Source


class SyncRefusedError(Exception):
    """The shard list makes no sense to KCL; it tries again later."""


def bootstrap(source: Source, initial: Initial) -> dict[str, Shard]:
    """The shards that get a lease when the table is empty; all of them at the initial position.

    Raises SyncRefusedError when they do not cover the hash space.
    """
    kinds = {LATEST: "AT_LATEST", TRIM_HORIZON: "AT_TRIM_HORIZON", AT_TIMESTAMP: "AT_TIMESTAMP"}
    shard_filter: dict[str, object] = {"Type": kinds[initial.name]}
    if initial.at is not None:
        shard_filter["Timestamp"] = initial.at
    shards = source.shards(shard_filter)
    low = 0
    for start, end in sorted(shard.hashes for shard in shards):
        if start != low:
            raise SyncRefusedError("incomplete hash range")
        low = end + 1
    if low != HASH_END + 1:
        raise SyncRefusedError("incomplete hash range")
    return {shard.id: shard for shard in shards}


@dataclass(slots=True)
class _Search:
    """The walk from the open shards to the oldest ancestor that has to be read."""

    shards: dict[str, Shard]
    leased: frozenset[str]
    initial: str
    found: dict[str, str] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)
    known: dict[str, bool] = field(default_factory=dict)

    def descends(self, key: str) -> bool:
        """Whether something leased, or about to be, lies at or above this shard."""
        if key not in self.known:
            self.known[key] = key in self.leased or self._from_parents(key)
        return self.known[key]

    def _from_parents(self, key: str) -> bool:
        parents = sorted({p for p in self.shards[key].parents if p in self.shards})
        above = {p for p in parents if self.descends(p) or p in self.wanted}
        if not above:
            if self.initial in (TRIM_HORIZON, AT_TIMESTAMP):
                self.wanted.add(key)
            return False
        for parent in parents:
            if parent not in self.leased:
                self._lease_parent(parent, parent in above)
        return True

    def _lease_parent(self, parent: str, above: bool) -> None:
        if parent not in self.found and above and parent not in self.wanted:
            return
        begin = above and self.initial != AT_TIMESTAMP
        self.found[parent] = TRIM_HORIZON if begin else self.initial


def missing_leases(shards: Iterable[Shard], leased: Iterable[str], initial: str) -> dict[str, str]:
    """The leases that a sync of a table that is not empty creates: {shard: position}.

    One generation at a time: for every open shard without a lease the oldest ancestor that has to
    be read, or the shard itself. A leased ancestor ends the search, whatever its checkpoint.
    Raises SyncRefusedError when a parent of a listed shard is still open.
    """
    by_id = {shard.id: shard for shard in shards}
    for shard in by_id.values():
        if any(parent in by_id and by_id[parent].open for parent in shard.parents):
            raise SyncRefusedError(f"{shard.id} has an open parent")
    search = _Search(by_id, frozenset(leased), initial)
    for shard in by_id.values():
        if shard.open and shard.id not in search.leased and not search.descends(shard.id):
            search.found[shard.id] = initial
    return dict(sorted(search.found.items(), key=lambda new: (by_id[new[0]].start, new[0])))


def first_hole(ranges: Iterable[tuple[int, int]]) -> tuple[object, ...] | None:
    """The first gap that the audit sees in these hash ranges, None when they cover everything.

    Overlapping ranges are merged, and the end of the whole is the end of the range that starts
    last: an older, longer lease hides gaps (PeriodicShardSyncManager).
    """
    ordered = sorted(ranges)
    if not ordered:
        return ()
    if ordered[0][0] != 0 or ordered[-1][1] != HASH_END:
        return (ordered[0], ordered[-1])
    left, reach = ordered[0], ordered[0][1]
    for right in ordered[1:]:
        if right[0] > reach + 1:
            return (left, right)
        if right[0] <= reach:
            reach = max(reach, right[1])
        else:
            left, reach = right, right[1]
    return None
