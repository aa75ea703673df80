"""kinesis-lineage: which marks of an offset count.

A mark is a shard's entry in the offset. The query continues from the newest committed offset: a
shard with a mark continues there, one without begins at its own start once its listed parents have
ended. startingPosition counts in the first batch only (docs/source.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec.structs import replace

from reshardctl.consumers.sequence_numbers import earlier_incarnation
from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.lines.lineage import begun_by_time
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    BEGINNING,
    LATEST,
    SHARD_END,
    Position,
    cut_of,
    is_foreign,
)
from reshardctl.consumers.spark.releases import App, Start
from reshardctl.lineage import Lineage
from reshardctl.model import (
    ShardId,
    decode,
    index_of,
    possibly_before,
)

SAME = 1.0
"""Seconds; creation times that differ by less are the same."""


def resting(checkpoint: Checkpoint) -> Batch | None:
    """The newest committed batch, from which the query starts, disregarding a planned one."""
    done = [batch for batch in checkpoint.batches.values() if batch.committed]
    return done[-1] if done else None


def created(checkpoint: Checkpoint) -> float | None:
    """When the stream of the offsets was created, by the newest one that says so."""
    times = [batch.created for batch in checkpoint.batches.values() if batch.created is not None]
    return times[-1] if times else None


def same(first: float, second: float) -> bool:
    """Whether two creation times are one stream's."""
    return abs(first - second) < SAME


def of_this_stream(lineage: Lineage, batch: Batch) -> bool:
    """Whether an offset is of the present stream, by its creation time, else by its numbers."""
    if batch.created is not None:
        return same(batch.created, lineage.stream.created)
    numbers = [mark.value for mark in batch.positions.values() if decode(mark.value)]
    return not numbers or not all(earlier_incarnation(lineage, number) for number in numbers)


def history(lineage: Lineage, checkpoint: Checkpoint) -> list[Batch]:
    """The committed batches of this stream, newest first."""
    return [
        batch for batch in reversed(list(checkpoint.batches.values()))
        if batch.committed and of_this_stream(lineage, batch)
    ]


def places(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Mapping[ShardId, Position]:
    """The marks from which the query continues; an earlier stream's marks do not count."""
    batch = resting(checkpoint)
    if batch is None or is_first(checkpoint):
        return _first(lineage, checkpoint, app)
    return batch.positions if of_this_stream(lineage, batch) else {}


def read_from(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Mapping[ShardId, Position]:
    """The marks from which the query continues after a planned batch.

    The batch reads from the committed marks to its own, and the next one continues from those:
    where they are earlier, nothing is read in between.
    """
    marks, planned = places(lineage, checkpoint, app), planned_batch(checkpoint)
    if planned is None or is_first(checkpoint) or not of_this_stream(lineage, planned):
        return marks
    return {
        shard: _lower(marks.get(shard, BEGINNING), mark)
        for shard, mark in planned.positions.items()
    }


def _lower(mark: Position, planned: Position) -> Position:
    return planned if possibly_before(cut_of(planned), cut_of(mark)) else mark


def planned_batch(checkpoint: Checkpoint) -> Batch | None:
    """The newest batch if it is not committed: it runs first, unchanged."""
    batch = checkpoint.newest_batch
    return None if batch is None or batch.committed else batch


def _first(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Mapping[ShardId, Position]:
    """The starts of a planned first batch, which runs again.

    It has pinned LATEST, and read nothing: its end is its beginning. By time, a mark of an end
    without a number is of a shard that had closed before that time.
    """
    planned = planned_batch(checkpoint)
    if planned is None or planned.broken:
        return {}
    if app.named is not None:
        return {shard: _named(app, shard, mark) for shard, mark in planned.positions.items()}
    if app.initial is Start.TRIM_HORIZON:
        return {shard: BEGINNING for shard in planned.positions if shard not in lineage}
    if app.initial is Start.LATEST:
        return planned.positions
    timed = begun_by_time(planned.log[checkpoint.source])
    since = Position(AT_TIMESTAMP, str(round((app.time or 0.0) * 1000)))
    return {
        shard: mark if mark.kind == SHARD_END and not mark.value and shard not in timed else since
        for shard, mark in planned.positions.items()
    }


def _named(app: App, shard: ShardId, mark: Position) -> Position:
    """Where a shard of a planned first batch begins: as JSON names it, LATEST as it was pinned."""
    start = (app.named or {}).get(shard)
    return mark if start is None or start.kind == LATEST else start


def had_its_turn(lineage: Lineage, marks: Collection[ShardId]) -> set[ShardId]:
    """Listed shards without a mark that are ancestors of one with a mark."""
    without = {shard for shard in lineage if shard not in marks}
    return without & lineage.ancestors(*marks) if without else without


def is_first(checkpoint: Checkpoint) -> bool:
    """Whether startingPosition still counts: no batch is committed, or the newest has no mark."""
    batch = planned_batch(checkpoint) or resting(checkpoint)
    return resting(checkpoint) is None or batch is None or not (batch.positions or batch.broken)


def last_known(lineage: Lineage, past: Iterable[Batch], shard: ShardId) -> Position | None:
    """The newest mark of `history` that can be true; of a false end, its number."""
    for batch in past:
        mark = batch.positions.get(shard)
        if mark is None or proves_nothing(lineage, shard, mark):
            continue
        if not is_false_end(lineage, shard, mark):
            return mark
        if mark.value:
            return replace(mark, kind=AFTER_SEQUENCE_NUMBER)
    return None


def is_refused(lineage: Lineage, shard: ShardId, mark: Position) -> bool:
    """Whether the source or Kinesis refuses the mark's number, also in a mark of an end."""
    return lineage.memo.once(_refused, lineage, (shard, mark))


def _refused(lineage: Lineage, place: tuple[ShardId, Position]) -> bool:
    shard, mark = place
    if not mark.value or mark.kind not in (AFTER_SEQUENCE_NUMBER, SHARD_END):
        return False
    if mark.kind == AFTER_SEQUENCE_NUMBER and is_foreign(lineage, shard, mark):
        return True
    decoded = decode(mark.value)
    return decoded is not None and (decoded.shard != index_of(shard) or decoded.is_end)


def proves_nothing(lineage: Lineage, shard: ShardId, mark: Position) -> bool:
    """Whether the mark's number is no record's of it; the source takes an end at its word."""
    if is_refused(lineage, shard, mark):
        return True
    stands = replace(mark, kind=AFTER_SEQUENCE_NUMBER)
    return mark.kind == SHARD_END and bool(mark.value) and is_foreign(lineage, shard, stands)


def is_false_end(lineage: Lineage, shard: ShardId, mark: Position) -> bool:
    """Whether the mark says that an open shard has ended."""
    return mark.kind == SHARD_END and shard in lineage and lineage.is_open(shard)


def passed_over(
    lineage: Lineage, checkpoint: Checkpoint, marks: Mapping[ShardId, Position]
) -> dict[ShardId, ShardId]:
    """Unlisted shards that were never read: shard → its descendant that has yet to begin.

    An ended shard keeps its mark until its children have theirs; in the first batch every shard is
    new.
    """
    if is_first(checkpoint):
        return {}
    if not (near := list(_unlisted_above(lineage))):
        return {}
    had = had_its_turn(lineage, marks)
    return {
        above: shard for shard, above in near
        if shard not in had and not {above, shard} & marks.keys()
    }


def _unlisted_above(lineage: Lineage) -> Iterator[tuple[ShardId, ShardId]]:
    for shard in lineage:
        for above in lineage.unlisted_parents(shard):
            yield shard, above
