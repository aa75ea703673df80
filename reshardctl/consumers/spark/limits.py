"""How much of a closed shard one batch reads.

awslabs from 1.4.3 on reads a closed shard in one batch and then drops it: records after
kinesis.maxFetchRecordsPerShard in that batch are lost (run of 0f4c005: 2 of 6 records came).
"""

from __future__ import annotations

from reshardctl.consumers.spark.app import App
from reshardctl.consumers.spark.cuts import cut_of
from reshardctl.consumers.spark.positions import Position
from reshardctl.lineage import Lineage
from reshardctl.model import Rank, ShardId, time_of

RATE = 1000
"""Records a second that a shard takes at most (PutRecords API reference)."""


def beyond_the_limit(lineage: Lineage, shard: ShardId, at: Position, app: App) -> str:
    """Why one batch may not reach a closed shard's end; "" where it will or nobody knows."""
    if not app.traits.drops_closed or app.limit is None:
        return ""
    seconds = _length(lineage, shard, at)
    if seconds is not None and seconds * RATE <= app.limit:
        return ""
    return (
        f"one batch reads at most {app.limit} records of it and drops the rest: raise "
        "kinesis.maxFetchRecordsPerShard, and say so with maxFetchRecordsPerShard="
    )


def _length(lineage: Lineage, shard: ShardId, at: Position) -> float | None:
    """Seconds between the position and the close, rounded up."""
    closed, cut = lineage.closed_at(shard), cut_of(at)
    since = lineage.opened_at(shard)
    if cut.rank is Rank.INSIDE:
        since = cut.time if cut.by_time else time_of(cut.number)
    return None if closed is None or since is None else closed - since + 1
