"""The synchronisation of KCL 1.0–1.13 and 2.0–2.2, at every start and every end of a shard.

Sources: KinesisShardSyncer and KinesisLeaseCleanupValidator of 1.13.3, HierarchicalShardSyncer of
2.2.11 (the same). One pass creates all missing leases, of descendants and ancestors, so that a
second pass would create nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from reshardctl.consumers.kcl.app import Start
from reshardctl.consumers.kcl.rows import Row
from reshardctl.consumers.kcl.sync import with_unleased_ancestors
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId


@dataclass(frozen=True, slots=True)
class Made:
    """A lease that the pass creates; whether at the initial position, below a leased shard."""

    initially: bool
    below: bool


def made_at_once(
    lineage: Lineage, leased: Collection[ShardId], initial: Start
) -> dict[ShardId, Made]:
    """Every lease that one pass creates, by shard.

    Only for open shards without a lease and their ancestors up to the first leased shard: above an
    open shard that has a lease nothing is ever created.
    """
    orphans = [s for s in lineage.open_shards() if s not in leased]
    descends: dict[ShardId, bool] = {}
    below: dict[ShardId, bool] = {}
    positions: dict[ShardId, bool] = {}
    for shard in with_unleased_ancestors(lineage, orphans, leased):
        parents = lineage.parents(shard)
        descending = [p for p in parents if descends.get(p, p in leased)]
        descends[shard] = bool(descending) or initial is not Start.LATEST
        below[shard] = any(below.get(p, p in leased) for p in parents)
        for parent in parents if descending else ():
            if parent not in leased:
                positions[parent] = _initially(parent in descending, initial)
    for shard in orphans:
        positions[shard] = _initially(descends[shard], initial)
    return {shard: Made(initially, below[shard]) for shard, initially in positions.items()}


def _initially(descends: bool, initial: Start) -> bool:
    return not descends or initial is Start.AT_TIMESTAMP


def swept(lineage: Lineage, row: Row) -> bool:
    """Whether the pass deletes the row: neither its shard nor a parent named on it is listed."""
    return row.shard not in lineage and not any(parent in lineage for parent in row.parents)
