"""The shards whose positions a proof about other shards depends on."""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.lineage import Lineage
from reshardctl.model import ShardId


def related_shards(lineage: Lineage, shards: Iterable[ShardId]) -> set[ShardId]:
    """The shards themselves, their ancestors and descendants, and the parents of all of these."""
    near: set[ShardId] = set()
    for shard in shards:
        near |= {shard} | lineage.ancestors(shard) | lineage.descendants(shard)
    return near | {p for shard in near if shard in lineage for p in lineage[shard].parents}
