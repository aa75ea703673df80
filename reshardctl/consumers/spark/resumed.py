"""Where a query resumes its shards: the newest batch, and its entries in the connector's log.

Sources: KinesisSource.getBatch of Qubole; KinesisV2MicrobatchStream.planInputPartitions of awslabs;
runs of the three builds in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from reshardctl.consumers.spark.app import App
from reshardctl.consumers.spark.checkpoint import AWSLABS, QUBOLE, Batch, Checkpoint
from reshardctl.consumers.spark.cuts import cut_of
from reshardctl.consumers.spark.logs import log_of
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    SHARD_END,
    Position,
)
from reshardctl.model import ShardId

_BOUNDS = frozenset({AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, SHARD_END})
"""Log entries of an uncommitted batch that let awslabs run a shard again, up to them."""

SEVERAL = 2
"""Committed batches that began at a time and met no record: one is how every idle shard begins."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where a query resumes a shard; whether in a planned batch, and where that ends, if known.

    others: Where it may resume it instead, by copies in the connector's log.
    """

    at: Position
    runs: bool = False
    until: Position | None = None
    others: tuple[Position, ...] = ()


def resumed(checkpoint: Checkpoint, app: App) -> dict[ShardId, Resumed]:
    """The shards that the newest batch and its log hold, with their positions."""
    batch = checkpoint.batches.get(checkpoint.newest or 0)
    if batch is None:
        return {}
    entries = checkpoint.entries.get(log_of(batch), {})
    log = {s: e.position for s, e in entries.items()}
    if batch.committed:
        others = {s: e.others for s, e in entries.items() if e.others}
        if not app.traits.merges:
            return {s: Resumed(p, others=others.get(s, ())) for s, p in log.items()}
        late = left_over(checkpoint)
        ends = {s: log.get(s, start) for s, start in batch.positions.items()}
        return {
            s: Resumed(p if p.kind == SHARD_END else late.get(s, p), others=others.get(s, ()))
            for s, p in ends.items()
        }
    # The batch overwrites an entry, and not a copy of it: the batch after it reads both.
    copies = {s: e.copies for s, e in entries.items() if e.copies}
    runs = {
        shard: Resumed(start, runs=start.kind != SHARD_END, others=copies.get(shard, ()))
        for shard, start in batch.positions.items()
    }
    if checkpoint.connector == QUBOLE:
        # It runs them all and overwrites their entries; other entries that a crash left in the log
        # of the batch stay, and the next batch continues there.
        return {s: Resumed(p, others=copies.get(s, ())) for s, p in log.items()} | {
            shard: resumed for shard, resumed in runs.items() if resumed.runs
        }
    if not log:
        return runs
    return {s: replace(held, others=copies.get(s, ())) for s, held in _again(batch, log)}


def left_over(checkpoint: Checkpoint) -> dict[ShardId, Position]:
    """Positions in an existing log of the batch to come, from which shards would continue.

    awslabs takes the log for a crashed run's: it reads nothing in that batch of a shard that the
    log names by a time or a mark, and begins there in the next one.
    """
    batch = checkpoint.batches.get(-1 if checkpoint.newest is None else checkpoint.newest)
    if batch is None or not batch.committed or checkpoint.connector == QUBOLE:
        return {}
    entries = checkpoint.entries.get(log_of(batch) + 1, {})
    return {s: e.position for s, e in entries.items() if e.position.kind not in _BOUNDS}


def standing(checkpoint: Checkpoint) -> dict[ShardId, Position]:
    """Starts by time at which several committed batches have met no record, and so does the next.

    The batch after such a one repeats the time in its line; the newest one's log says it.
    """
    batch = checkpoint.batches.get(-1 if checkpoint.newest is None else checkpoint.newest)
    if batch is None or checkpoint.connector != AWSLABS:
        return {}
    ends = {s: e.position for s, e in checkpoint.entries.get(log_of(batch), {}).items()}
    places = {**batch.positions, **(ends if batch.committed else {})}
    timed = {s: at for s, at in places.items() if at.kind == AT_TIMESTAMP}
    if not timed:
        return {}
    lines = [one.positions for one in checkpoint.batches.values() if one.committed]
    return {
        shard: at for shard, at in timed.items()
        if sum(line.get(shard) == at for line in lines) >= SEVERAL
    }


def far_ahead(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Files of the log of later batches from which a shard would continue: entries by time or mark.

    A number or an end there bounds its batch, and is overwritten when the batch has run
    (planInputPartitions, HDFSMetadataCommitter.add with OVERWRITE).
    """
    batch = checkpoint.batches.get(-1 if checkpoint.newest is None else checkpoint.newest)
    if batch is None or checkpoint.connector != AWSLABS or checkpoint.tabled:
        return ()
    if batch.committed and batch.begun and not checkpoint.entries.get(log_of(batch)):
        return ()  # it crashes earlier
    last = log_of(batch) + (1 if batch.committed else 0)
    return tuple(
        entry.image.key for log, entries in sorted(checkpoint.entries.items()) if log > last
        for _, entry in sorted(entries.items()) if entry.position.kind not in _BOUNDS
    )


def _again(batch: Batch, log: Mapping[ShardId, Position]) -> Iterator[tuple[ShardId, Resumed]]:
    """What awslabs runs again of an uncommitted batch: shards that its log has ended.

    It stops at the record with which the log ended, which it never meets if it begins after it.
    """
    for shard, start in batch.positions.items():
        end = log.get(shard)
        if end is not None and end.kind in _BOUNDS and start.kind != SHARD_END:
            bounded = end.kind == AFTER_SEQUENCE_NUMBER and cut_of(start) < cut_of(end)
            yield shard, Resumed(start, runs=True, until=end if bounded else None)
        else:
            yield shard, Resumed(end or start)
