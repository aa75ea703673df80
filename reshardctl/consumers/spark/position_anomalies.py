"""Anomalies of a checkpoint's positions, judged against the lineage."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.against_listing import against_listing
from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.spark.checkpoint import LINEAGE, Checkpoint
from reshardctl.consumers.spark.cuts import spelled
from reshardctl.consumers.spark.incarnation import by_creation
from reshardctl.consumers.spark.logs import KEEPING, log_of
from reshardctl.consumers.spark.marks import resting
from reshardctl.consumers.spark.positions import Position
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, ShardId


def current(checkpoint: Checkpoint) -> dict[ShardId, Position]:
    """The newest batch's positions: its start while it is planned, its end once it is committed.

    An end is kept as one. Of offsets that are ends: those of the newest committed batch.
    """
    batch = checkpoint.batches.get(-1 if checkpoint.newest is None else checkpoint.newest)
    if batch is None:
        return {}
    if checkpoint.connector == LINEAGE:
        return dict((resting(checkpoint) or batch).positions)
    positions = dict(batch.positions)
    if (batch.committed or checkpoint.runs_again) and checkpoint.connector in KEEPING:
        entries = checkpoint.entries.get(log_of(batch), {})
        positions |= {shard: entry.position for shard, entry in entries.items()}
    return positions


def against_the_lineage(lineage: Lineage, checkpoint: Checkpoint) -> Iterator[Anomaly]:
    """Shards of the newest batch that are gone or not created yet; numbers of an earlier stream."""
    batch = checkpoint.batches.get(-1 if checkpoint.newest is None else checkpoint.newest)
    told = by_creation(lineage, checkpoint)
    for shard, position in current(checkpoint).items():
        key, raw = batch.image.key if batch is not None else "", spelled(position)
        older = "its offset is of a stream that was created before this one"
        yield from against_listing(
            lineage, shard, key, raw, number=position.value,
            older=older if told is Incarnation.RECREATED else "",
        )
