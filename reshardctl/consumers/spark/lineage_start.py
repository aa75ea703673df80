"""kinesis-lineage: simulates what it does when a query starts on a checkpoint.

A shard with a mark continues there. One without is started a batch after all of its listed parents
have been read to their ends; parents that are not listed count as ended. Expired records crash the
query, unless failOnDataLoss=false (docs/source.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.consumers.spark.app import App, Start
from reshardctl.consumers.spark.behaviour import NOBODY
from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.crashes import REPAIRED, crash_of_spark
from reshardctl.consumers.spark.cuts import cut_of, is_at_end
from reshardctl.consumers.spark.first_batch import first_cuts
from reshardctl.consumers.spark.marks import (
    had_its_turn,
    is_false_end,
    is_first,
    is_refused,
    of_this_stream,
    passed_over,
    planned_batch,
    read_from,
    resting,
)
from reshardctl.consumers.spark.notes import of_default
from reshardctl.consumers.spark.positions import AFTER_SEQUENCE_NUMBER, SHARD_END, Position
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Cause,
    Crash,
    Cut,
    Fate,
    ShardId,
    Simulation,
    WillRead,
    WontRead,
    exactly,
    short,
)
from reshardctl.model.times import instant

SURVIVES = "failOnDataLoss=false, or a repair"
_ENDED = WillRead(exactly(DONE), DONE, NOBODY, True, Cause.FINISHED, "read to its end")
_TAKEN = WillRead(
    exactly(DONE), DONE, NOBODY, True, Cause.TAKEN_FOR_READ,
    "has no position, and a shard below it has: the source takes it for read",
)


def simulate_start(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Simulation:
    """A fate for every listed shard, and for unlisted ones with unread records."""
    return checkpoint.once("start", (lineage, app), lambda: _simulated(lineage, checkpoint, app))


def _simulated(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Simulation:
    marks = read_from(lineage, checkpoint, app)
    had = had_its_turn(lineage, marks)
    unread = set(passed_over(lineage, checkpoint, marks))
    fates: dict[ShardId, Fate] = {}
    for shard in (*marks, *sorted(unread)):
        if shard not in lineage and not _is_end(marks.get(shard)):
            at = cut_of(marks[shard]) if shard in marks else START
            why = "the shard is not listed any more"
            fates[shard] = WillRead(exactly(at), DONE, NOBODY, True, Cause.GONE, why)
    planned = planned_batch(checkpoint)
    fixed = planned is not None and planned.positions  # a shard that it does not name came later
    opened = first_cuts(lineage, app) if is_first(checkpoint) and not fixed else None
    for shard in lineage:
        mark = marks.get(shard)
        if mark is None and shard in had:
            fates[shard] = _TAKEN
        else:
            fates[shard] = _fate(lineage, shard, mark, opened, app)
    crash = _crash(lineage, checkpoint, tuple(fates), app)
    return Simulation(fates, crash, tuple(of_default(app, fates)), crashes_when_expired=app.fails)


def _fate(
    lineage: Lineage, shard: ShardId, mark: Position | None,
    opened: Mapping[ShardId, Cut] | None, app: App,
) -> Fate:
    closed, until = not lineage.is_open(shard), furthest(lineage, shard)
    if mark is not None and mark.kind == SHARD_END:
        if not closed:
            why = "marked as ended while it is open: the source never reads it again"
            return WontRead(Cause.FALSE_END, why)
        return _ENDED
    if mark is not None:
        why, at = "goes on after its stored end", cut_of(mark)
        return WillRead(exactly(at), until, NOBODY, closed, Cause.POSITION, why)
    if opened is not None and shard in opened:
        at, cause = opened[shard], Cause.BOOTSTRAP
        if app.initial is Start.LATEST:
            cause = Cause.LATEST
        why = f"begins where startingPosition={app.initial} says"
        return WillRead(exactly(at), until, NOBODY, closed, cause, why)
    parents = frozenset(lineage.parents(shard))
    why = "begins when its parents have ended"
    if not parents:
        why = "begins at its beginning: startingPosition counts in the first batch alone"
    return WillRead(exactly(START), until, parents, closed, Cause.CREATED_AT_PARENT_END, why)


def _is_end(mark: Position | None) -> bool:
    return mark is not None and mark.kind == SHARD_END


def _crash(
    lineage: Lineage, checkpoint: Checkpoint, judged: Iterable[ShardId], app: App
) -> Crash | None:
    """The first cause of a crash: Spark's own files, then the offset, then losses."""
    first = (
        crash_of_spark(checkpoint, app) or _of_numbers(lineage, checkpoint)
        or _of_false_ends(lineage, checkpoint)
    )
    if first is not None:
        return first
    batch = resting(checkpoint) or planned_batch(checkpoint)  # a first batch is judged after it ran
    if not app.fails or batch is None:
        return None
    if not of_this_stream(lineage, batch):
        why = (
            f"its offsets are of a stream that was created at {instant(batch.created or 0.0)}, "
            "and failOnDataLoss=true"
        )
        return Crash(why, SURVIVES, cause=Cause.FOREIGN_NUMBER, by=tuple(batch.positions))
    gone = tuple(shard for shard in judged if shard not in lineage)
    if not gone:
        return None
    why = f"shard {short(gone[0])} is not listed any more, and failOnDataLoss=true"
    return Crash(why, SURVIVES, cause=Cause.GONE, by=gone)


def _of_false_ends(lineage: Lineage, checkpoint: Checkpoint) -> Crash | None:
    """The crash of a planned batch that must read an open shard to its end."""
    batch, rests = planned_batch(checkpoint), resting(checkpoint)
    before = rests.positions if rests is not None else {}
    for shard, mark in batch.positions.items() if batch is not None else ():
        if is_false_end(lineage, shard, mark) and not _is_end(before.get(shard)):
            why = f"the planned batch is to read shard {short(shard)} to its end, and it is open"
            return Crash(why, REPAIRED, cause=Cause.FALSE_END, by=(shard,))
    return None


def _of_numbers(lineage: Lineage, checkpoint: Checkpoint) -> Crash | None:
    """The crash at a number of another shard in a start or an end of the next batch.

    The source refuses it, also in a mark of an end; Kinesis refuses other wrong numbers.
    """
    for batch in (resting(checkpoint), planned_batch(checkpoint)):
        if batch is None or not of_this_stream(lineage, batch):
            continue
        for shard, mark in batch.positions.items():
            if is_refused(lineage, shard, mark):
                why = f"{mark.value} is no number of a record of shard {short(shard)}"
                at_end = is_at_end(lineage, shard, replace(mark, kind=AFTER_SEQUENCE_NUMBER))
                cause = Cause.AT_END if at_end else Cause.FOREIGN_NUMBER
                return Crash(why, REPAIRED, cause=cause, by=(shard,))
    return None
