"""Which finished leases a worker deletes (KCL 3.5.1 LeaseCleanupManager, the same in 2.7.2)."""

from __future__ import annotations

from tests.proof.reference.kcl_lease import (
    AT_TIMESTAMP,
    TRIM_HORIZON,
    Item,
    UnreadableRowError,
    lease_of,
)
from tests.proof.reference.kcl_stream import ShardGoneError, Source


def clean_up(table: dict[str, Item], queue: list[str], source: Source, release: str) -> bool:
    """Go once through the finished leases; True when one was deleted.

    A shard that the stream no longer has loses its lease at once. Another keeps it until all its
    children have leases that have begun and its own parents' leases are gone.
    """
    deleted = False
    for key in list(queue):
        if key in table and (_garbage(key, source) or _over(table, key, source, release)):
            del table[key]
            deleted = True
        if key not in table:
            queue.remove(key)
    return deleted


def _garbage(key: str, source: Source) -> bool:
    try:
        source.children(key)
    except ShardGoneError:
        return True
    return False


def _over(table: dict[str, Item], key: str, source: Source, release: str) -> bool:
    try:
        lease = lease_of(table[key], release)
        if lease is None or any(parent in table for parent in lease.parents):
            return False
        children = sorted(lease.children) or source.children(key)
        if children and not lease.children:
            table[key]["childShardIds"] = {"SS": sorted(children)}
        begun = [child in table and _begun(table[child], release) for child in children]
        return bool(begun) and all(begun)
    except UnreadableRowError:
        return False


def _begun(item: Item, release: str) -> bool:
    lease = lease_of(item, release)
    return lease is not None and lease.checkpoint not in (TRIM_HORIZON, AT_TIMESTAMP)
