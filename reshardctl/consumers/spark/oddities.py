"""What is odd about a checkpoint's positions, against the lineage."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.numbers import earlier_incarnation, of_another_stream, unborn
from reshardctl.consumers.spark.checkpoint import LINEAGE, Checkpoint
from reshardctl.consumers.spark.cuts import spelled
from reshardctl.consumers.spark.logs import KEEPING, log_of
from reshardctl.consumers.spark.marks import created, resting, same
from reshardctl.consumers.spark.positions import Position
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import Odd, Oddity, ShardId, decode
from reshardctl.times import instant


def current(checkpoint: Checkpoint) -> dict[ShardId, Position]:
    """Where the newest batch stands: where it starts while it is planned, where it ended once it is
    committed. An end is kept as one. Offsets that are ends: where the newest committed one ended.
    """
    batch = checkpoint.batches.get(-1 if checkpoint.newest is None else checkpoint.newest)
    if batch is None:
        return {}
    if checkpoint.connector == LINEAGE:
        return dict((resting(checkpoint) or batch).positions)
    found = dict(batch.positions)
    if (batch.committed or checkpoint.runs_again) and checkpoint.connector in KEEPING:
        entries = checkpoint.entries.get(log_of(batch), {})
        found |= {shard: entry.position for shard, entry in entries.items()}
    return found


def against_the_lineage(lineage: Lineage, checkpoint: Checkpoint) -> Iterator[Odd]:
    """Shards of the newest batch that are gone or not yet born; numbers of an earlier stream."""
    batch = checkpoint.batches.get(-1 if checkpoint.newest is None else checkpoint.newest)
    told = by_creation(lineage, checkpoint)
    for shard, position in current(checkpoint).items():
        key, raw = batch.image.key if batch is not None else "", spelled(position)
        if unborn(lineage, shard):
            yield Odd(Oddity.UNBORN, key, raw, "the stream has no such shard yet", shard)
        elif shard not in lineage:
            yield Odd(Oddity.GONE, key, raw, "the shard is not listed any more", shard)
        if told is Incarnation.RECREATED or earlier_incarnation(lineage, position.value):
            why = "its number is older than the stream"
            if told is Incarnation.RECREATED:
                why = "its offset is of a stream that was created before this one"
            yield Odd(Oddity.EARLIER_INCARNATION, key, raw, why, shard)


def incarnation(lineage: Lineage, checkpoint: Checkpoint) -> Incarnation:
    """By the times in every decodable number of the newest batch. Raises WrongStream where the
    checkpoint names another stream, or holds a younger number that no shard of this one has."""
    name = lineage.stream.name
    if checkpoint.stream_name and checkpoint.stream_name != name:
        raise WrongStream(
            f"the checkpoint is of stream {checkpoint.stream_name}, not {name}",
            f"--stream {checkpoint.stream_name}, or the right checkpoint or source=",
        )
    if (told := by_creation(lineage, checkpoint)) is Incarnation.RECREATED:
        return told
    numbers = {s: p.value for s, p in current(checkpoint).items() if decode(p.value)}
    for shard, number in numbers.items():
        if of_another_stream(lineage, number):
            raise WrongStream(
                f"{shard}: {number} is no number of stream {name}, and younger than it: the "
                "checkpoint belongs to another stream",
                "name that stream with --stream, or the right checkpoint",
            )
    if not numbers:
        return told or Incarnation.AMBIGUOUS
    if all(earlier_incarnation(lineage, number) for number in numbers.values()):
        return Incarnation.RECREATED
    return Incarnation.SAME


def by_creation(lineage: Lineage, checkpoint: Checkpoint) -> Incarnation | None:
    """By the creation time in the offsets, `None` where they hold none. Raises WrongStream for a
    stream that was created after this one."""
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
