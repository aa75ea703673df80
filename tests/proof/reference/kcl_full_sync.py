"""The synchronisation of KCL 1.0–1.13 and 2.0–2.2: at every start and at every end of a shard.

Written from KinesisShardSyncer and KinesisLeaseCleanupValidator of 1.13.3, and from 2.2.11's
HierarchicalShardSyncer, which is the same in Java 8; `cleanupLeasesUponShardCompletion` at its
default, true.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.proof.reference.kcl_lease import AT_TIMESTAMP, TRIM_HORIZON, Lease, list_leases
from tests.proof.reference.kcl_stream import Shard
from tests.proof.reference.kcl_sync import SyncRefusedError

if TYPE_CHECKING:
    from tests.proof.reference.kcl import Worker

Children = dict[str, list[str]]
"""Listed parents to their listed children."""


def full_sync(worker: Worker) -> None:
    """One whole pass: create, sweep the leases of unlisted shards, delete finished ones.

    Raises SyncRefusedError where the library throws, with what it had done until then done.
    """
    shards = {shard.id: shard for shard in worker.source.shards()}
    children = children_of(shards)
    refuse_open_parents(shards, children)
    leases = list_leases(worker.table, worker.release)
    new = new_leases(shards.values(), [lease.key for lease in leases], worker.initial.name)
    for key, position in new.items():
        worker.create(key, position, list(shards[key].parents), shards[key].hashes)
    created = [
        Lease(key, position, 0, frozenset(shards[key].parents), frozenset(), None)
        for key, position in new.items()
    ]
    for lease in (*leases, *created):
        if is_garbage(lease, shards):
            del worker.table[lease.key]
    for key in finished(leases, created, shards, children):
        worker.table.pop(key, None)


def children_of(shards: dict[str, Shard]) -> Children:
    """constructShardIdToChildShardIdsMap."""
    children: Children = {}
    for shard in shards.values():
        for parent in shard.parents:
            if parent in shards:
                children.setdefault(parent, []).append(shard.id)
    return children


def refuse_open_parents(shards: dict[str, Shard], children: Children) -> None:
    """assertAllParentShardsAreClosed; raises SyncRefusedError."""
    if inconsistent := [c for p, found in children.items() if shards[p].open for c in found]:
        raise SyncRefusedError(f"{len(inconsistent)} open child shards are inconsistent")


@dataclass(slots=True)
class _Search:
    """checkIfDescendantAndAddNewLeasesForAncestors, with its memory and the leases it adds."""

    shards: dict[str, Shard]
    current: frozenset[str]
    initial: str
    added: dict[str, str] = field(default_factory=dict)
    memory: dict[str, bool] = field(default_factory=dict)

    def descends(self, key: str) -> bool:
        """Whether it descends from a leased shard, or will be read whole anyway."""
        if key not in self.memory:
            self.memory[key] = self._descends(key)
        return self.memory[key]

    def _descends(self, key: str) -> bool:
        if key not in self.shards:
            return False
        if key in self.current:
            return True
        parents = {p for p in self.shards[key].parents if p in self.shards}
        descending = {p for p in parents if self.descends(p)}
        if not descending:
            return self.initial in (TRIM_HORIZON, AT_TIMESTAMP)
        for parent in parents - self.current:
            self.added[parent] = self.position(parent in descending)
        return True

    def position(self, descending: bool) -> str:
        """Where a lease begins that this shard needs."""
        return TRIM_HORIZON if descending and self.initial != AT_TIMESTAMP else self.initial


def new_leases(shards: Iterable[Shard], current: Iterable[str], initial: str) -> dict[str, str]:
    """determineNewLeasesToCreate: {shard: position} in the order of creation."""
    by_id = {shard.id: shard for shard in shards}
    search = _Search(by_id, frozenset(current), initial)
    for shard in by_id.values():
        if shard.open and shard.id not in search.current:
            search.added[shard.id] = search.position(search.descends(shard.id))
    return dict(sorted(search.added.items(), key=lambda new: (by_id[new[0]].start, new[0])))


def is_garbage(lease: Lease, listed: Iterable[str]) -> bool:
    """isCandidateForCleanup: neither the shard nor a parent that the lease names is listed.

    Raises SyncRefusedError where a parent is listed and the shard is not.
    """
    known = set(listed)
    if lease.key in known:
        return False
    if present := sorted(lease.parents & known):
        raise SyncRefusedError(f"Parent shard {present[0]} exists but not {lease.key}")
    return True


def finished(
    leases: Iterable[Lease], created: Iterable[Lease], shards: dict[str, Shard], children: Children
) -> list[str]:
    """cleanupLeasesOfFinishedShards: the finished leases whose children have all begun.

    A child has begun when it has a lease at anything but TRIM_HORIZON. Raises SyncRefusedError
    for a finished lease of an open shard, or of one whose children do not cover it, and where a
    lease has no checkpoint to compare (the library's NullPointerException).
    """
    held = list(leases)
    if any(lease.checkpoint is None for lease in held):
        raise SyncRefusedError("NullPointerException: a lease without a checkpoint")
    ended = [lease for lease in held if lease.ended]
    for lease in ended:
        _refuse_uncovered(lease.key, shards, children)
    tracked = {lease.key: lease for lease in (*held, *created)}
    return [lease.key for lease in ended if _children_begun(children.get(lease.key, []), tracked)]


def _children_begun(keys: list[str], tracked: dict[str, Lease]) -> bool:
    return bool(keys) and all(
        key in tracked and (tracked[key].checkpoint, tracked[key].sub) != (TRIM_HORIZON, 0)
        for key in keys
    )


def _refuse_uncovered(key: str, shards: dict[str, Shard], children: Children) -> None:
    """assertClosedShardsAreCoveredOrAbsent."""
    if key not in shards:
        return
    if shards[key].open:
        raise SyncRefusedError(f"Shard {key} is not closed")
    below = [shards[child].hashes for child in children.get(key, [])]
    low, high = shards[key].hashes
    if not below or min(below)[0] > low or max(end for _, end in below) < high:
        raise SyncRefusedError(f"hash key range of shard {key} is not covered by its child shards")

