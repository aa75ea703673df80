"""Judges whether a checkpoint belongs to the present stream of its name.

By the creation time in its offsets; by the times in the numbers of the newest batch that has any;
without a number by the times at which Spark planned its batches.
"""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.sequence_numbers import (
    CLOCKS_APART,
    earlier_incarnation,
    of_wrong_stream,
)
from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.logs import log_of
from reshardctl.consumers.spark.marks import created, same
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.stamps import planned_at
from reshardctl.errors import WrongStream, command_line
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, decode
from reshardctl.model.times import instant


def incarnation(
    lineage: Lineage, checkpoint: Checkpoint, current: Mapping[ShardId, Position]
) -> Incarnation:
    """Judge the newest batch's positions; raises WrongStream for another stream's."""
    name = lineage.stream.name
    if checkpoint.stream_name and checkpoint.stream_name != name:
        raise WrongStream(
            f"the checkpoint is of stream {checkpoint.stream_name}, not {name}",
            command_line("--stream", checkpoint.stream_name)
            + ", or the right checkpoint or source=",
        )
    if (told := by_creation(lineage, checkpoint)) is Incarnation.RECREATED:
        return told
    newest = _numbers(current)
    numbers = newest or _numbers_before(checkpoint)
    if (shard := of_wrong_stream(lineage, numbers)) is not None:
        raise WrongStream(
            f"{shard}: {numbers[shard]} is no number of stream {name}: the checkpoint belongs to "
            "another stream",
            "name that stream with --stream, or the right checkpoint",
        )
    if not numbers:
        return told or _by_batches(lineage, checkpoint)
    if not all(earlier_incarnation(lineage, number) for number in numbers.values()):
        return Incarnation.SAME
    return Incarnation.RECREATED if newest else _by_batches(lineage, checkpoint)


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
