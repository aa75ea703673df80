"""Which closed shards announce their children to the source.

GetRecords names the children once a closed shard is read to its end, even if nothing is left to
read. A shard consumer passes on those whose first parent it is (`shard_consumer.rs:214`), so of a
merge only `ParentShardId` announces the child. A shard whose position Kinesis refuses reads nothing
and announces nothing.
"""

from __future__ import annotations

from reshardctl.consumers.quickwit.positions import position_of
from reshardctl.consumers.quickwit.rows import Checkpoint
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId


def announces(lineage: Lineage, shard: ShardId) -> bool:
    """Whether a listed shard, read to its end, would name a listed child."""
    kept = lineage.answers("announces")
    known: bool | None = kept.get(shard)
    if known is None:
        known = kept[shard] = _announces(lineage, shard)
    return known


def _announces(lineage: Lineage, shard: ShardId) -> bool:
    if lineage.is_open(shard):
        return False
    return any(lineage.first_parent(child) == shard for child in lineage.children(shard))


def announcing(lineage: Lineage, checkpoint: Checkpoint) -> list[ShardId]:
    """Closed shards that will announce children from their stored positions, parents first."""
    return [
        shard for shard in lineage
        if announces(lineage, shard)
        and not position_of(lineage, shard, checkpoint.text(shard)).refused
    ]
