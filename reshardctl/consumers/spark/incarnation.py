"""Judges whether a checkpoint belongs to the present stream of its name.

By the creation time in its offsets; by the times in the numbers of the newest batch that has any;
without a number by the times at which Spark planned its batches. Anomalies of its positions,
judged against the lineage, stand here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.sequence_numbers import (
    CLOCKS_APART,
    against_listing,
    earlier_incarnation,
    of_wrong_stream,
)
from reshardctl.consumers.spark.checkpoint import (
    KEEPING,
    LINEAGE,
    Batch,
    Checkpoint,
    log_of,
    planned_at,
)
from reshardctl.consumers.spark.marks import created, resting, same
from reshardctl.consumers.spark.positions import Position, spelled
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, ShardId, decode
from reshardctl.model.times import instant


def incarnation(
    lineage: Lineage, checkpoint: Checkpoint, current: Mapping[ShardId, Position]
) -> Incarnation:
    """Judge the newest batch's positions; raises WrongStream for another stream's.

    Of another stream by its name it is not parsed (`sources.chosen`).
    """
    name = lineage.stream.name
    if (told := by_creation(lineage, checkpoint)) is Incarnation.RECREATED:
        return told
    newest = _numbers(current)
    numbers = newest or _numbers_before(checkpoint)
    if (shard := of_wrong_stream(lineage, numbers)) is not None:
        raise wrong_stream(checkpoint, shard, f"{numbers[shard]} is no number of stream {name}")
    if not numbers:
        return told or _by_batches(lineage, checkpoint)
    if not all(earlier_incarnation(lineage, number) for number in numbers.values()):
        return Incarnation.SAME
    return Incarnation.RECREATED if newest else _by_batches(lineage, checkpoint)


def wrong_stream(_checkpoint: Checkpoint, shard: ShardId, why: str) -> WrongStream:
    """The error for another stream's checkpoint. why: what is wrong with this shard's number."""
    return WrongStream(
        f"{shard}: {why}: the checkpoint belongs to another stream",
        "name that stream with --stream, or the right checkpoint",
    )


def by_creation(lineage: Lineage, checkpoint: Checkpoint) -> Incarnation | None:
    """By the offsets' creation time, if any; raises WrongStream if the stream is younger."""
    time, stream = created(checkpoint), lineage.stream
    if time is None:
        return None
    if same(time, stream.created):
        return Incarnation.SAME
    if time < stream.created:
        return Incarnation.RECREATED
    raise WrongStream(
        f"the checkpoint is of a stream {stream.name} that was created at {instant(time)}, after "
        f"this one ({instant(stream.created)})",
        "look at account, region and endpoint of --stream: the checkpoint belongs to another one",
    )


def _numbers(places: Mapping[ShardId, Position]) -> dict[ShardId, str]:
    return {shard: position.value for shard, position in places.items() if decode(position.value)}


def _numbers_before(checkpoint: Checkpoint) -> dict[ShardId, str]:
    """The numbers of the newest batch that has any, in its log or its line."""
    for number in sorted(checkpoint.batches, reverse=True):
        batch = checkpoint.batches[number]
        if numbers := _numbers(batch.positions) | _numbers(_ends(checkpoint, batch)):
            return numbers
    return {}


def _ends(checkpoint: Checkpoint, batch: Batch) -> dict[ShardId, Position]:
    entries = checkpoint.entries.get(log_of(batch), {})
    return {shard: entry.position for shard, entry in entries.items()}


def _by_batches(lineage: Lineage, checkpoint: Checkpoint) -> Incarnation:
    """Judge by times: a query that began when the stream existed reads this stream.

    An older batch may belong to it too, because its time comes from the driver's clock.
    """
    times = [planned_at(batch) for batch in checkpoint.batches.values() if batch.begun]
    since = lineage.stream.created + CLOCKS_APART
    younger = bool(times) and all(time is not None and time > since for time in times)
    return Incarnation.SAME if younger else Incarnation.AMBIGUOUS


def current(checkpoint: Checkpoint) -> dict[ShardId, Position]:
    """The newest batch's positions: its start while it is planned, its end once it is committed.

    An end is kept as one. Of offsets that are ends: those of the newest committed batch.
    """
    batch = checkpoint.newest_batch
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
    batch = checkpoint.newest_batch
    told = by_creation(lineage, checkpoint)
    for shard, position in current(checkpoint).items():
        key, raw = batch.image.key if batch is not None else "", spelled(position)
        older = "its offset is of a stream that was created before this one"
        yield from against_listing(
            lineage, shard, key, raw, number=position.value,
            older=older if told is Incarnation.RECREATED else "",
        )
