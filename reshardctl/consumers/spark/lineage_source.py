"""kinesis-lineage: what it does when a query starts on a checkpoint, and offsets that are ends.

A shard with a mark continues there. One without is started a batch after all of its listed parents
have been read to their ends; parents that are not listed count as ended. Expired records crash the
query, unless failOnDataLoss=false (docs/source.md).

The query continues from the newest committed line, so editing that line moves it (runs of sources
with ends on Spark 3.3.4 to 4.3.0, November 2026: a shard that is moved back is read again from
there; a query that keeps state counts its records twice).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.consumers.spark.behaviour import NOBODY, REPAIRED, crash_of_spark
from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.files import replaced
from reshardctl.consumers.spark.first_batch import first_batch
from reshardctl.consumers.spark.hazards import obstacle
from reshardctl.consumers.spark.history import widened
from reshardctl.consumers.spark.lines import lineage as lines
from reshardctl.consumers.spark.marks import (
    had_its_turn,
    history,
    is_false_end,
    is_first,
    is_refused,
    last_known,
    of_this_stream,
    passed_over,
    places,
    planned_batch,
    proves_nothing,
    read_from,
    resting,
)
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    SHARD_END,
    Position,
    cut_of,
    is_at_end,
    position_at,
)
from reshardctl.consumers.spark.releases import App, Start
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.consumers.spark.starts import of_default
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Basis,
    Cause,
    Crash,
    Cut,
    Fate,
    ShardId,
    Simulation,
    Span,
    Step,
    TargetFrontier,
    WillRead,
    WontRead,
    exactly,
    short,
)
from reshardctl.model.times import instant

SURVIVES = "failOnDataLoss=false, or a repair"
CORRECTED = "startingPosition says where every shard begins"
_ENDED = WillRead(exactly(DONE), DONE, NOBODY, True, Cause.FINISHED, "read to its end")
_TAKEN = WillRead(
    exactly(DONE), DONE, NOBODY, True, Cause.TAKEN_FOR_READ,
    "has no position, and a shard below it has: the source takes it for read",
)


def simulate_start(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Simulation:
    """A fate for every listed shard, and for unlisted ones with unread records."""
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
    first = first_batch(lineage, app) if is_first(checkpoint) and not fixed else None
    opened = first.cuts if first is not None else None
    for shard in lineage:
        mark = marks.get(shard)
        if mark is None and shard in had:
            fates[shard] = _TAKEN
        else:
            fates[shard] = _fate(lineage, shard, mark, opened, app)
    crash = _crash(lineage, checkpoint, tuple(fates), app)
    if crash is None and first is not None and first.refused:
        crash = Crash(f"the source refuses to start: {first.refused}", CORRECTED)
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
        if proves_nothing(lineage, shard, mark):
            why = "marked as ended at a number of another shard: the source never reads it again"
            return replace(_ENDED, cause=Cause.FALSE_END, why=why)
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


def processed(lineage: Lineage, checkpoint: Checkpoint, app: App) -> dict[ShardId, Span]:
    """The ends of the newest committed batch; earlier ones for shards without a valid mark in it.

    An ancestor of a shard in it counts as processed.
    """
    marks = places(lineage, checkpoint, app)
    over, past = had_its_turn(lineage, marks), history(lineage, checkpoint)
    line = {s: exactly(cut_of(p)) for s, p in marks.items() if s not in lineage}
    for shard in lineage:
        line[shard] = _span(lineage, past, shard, marks.get(shard), shard in over)
    if again := checkpoint.runs_again:
        line |= widened(line, again, again.positions)
    return line


def _span(
    lineage: Lineage, past: Sequence[Batch], shard: ShardId, mark: Position | None, over: bool
) -> Span:
    if mark is not None and proves_nothing(lineage, shard, mark):
        why = "its number is no number of this shard"
    elif mark is not None and is_false_end(lineage, shard, mark):
        why = "marked as ended while it is open"
    elif mark is not None:
        return exactly(cut_of(mark))
    else:
        known = last_known(lineage, past, shard)
        if known is not None:
            return exactly(cut_of(known), why="an earlier batch had a position of it")
        if over:
            return exactly(DONE, Basis.INFERRED, "a shard below it was begun")
        return exactly(START, Basis.INFERRED, "no batch names it")
    known = last_known(lineage, past, shard)
    lo = START if known is None else cut_of(known)
    return Span(lo, furthest(lineage, shard), Basis.INFERRED, why)


class _Edit(Struct, frozen=True):
    """How the line changes; `without` loses its marks, `created` is a recreated stream's."""

    moved: Mapping[ShardId, Position] = field(default_factory=dict)
    without: frozenset[ShardId] = frozenset()
    created: float | None = None


def encode(
    lineage: Lineage,
    checkpoint: Checkpoint,
    want: TargetFrontier,
    app: App,
    leave: Collection[ShardId],
) -> list[Step] | Cannot:
    """Edits the newest committed line to the wanted ends."""
    batch = resting(checkpoint)
    edit = _edit(lineage, checkpoint, want, app, leave)
    if edit == _Edit():
        return []
    why = obstacle(checkpoint, edit.moved, app) or _in_the_way(checkpoint, batch, edit.moved, app)
    if why is not None:
        return why
    assert batch is not None, "something is in the way otherwise"
    try:
        before = batch.log[checkpoint.source]
        line = lines.line(before, edit.moved, edit.without, edit.created)
    except Malformed as error:
        return Cannot(f"offsets/{batch.id}: {error}", ("restore offsets/ from a backup",))
    text = batch.log.replacing(checkpoint.source, line).text()
    reason = f"batch {batch.id} is committed: the next one starts where this line ends"
    return [Step(f"move the end of batch {batch.id}", (replaced(batch.image, text, reason),))]


def _edit(
    lineage: Lineage,
    checkpoint: Checkpoint,
    want: TargetFrontier,
    app: App,
    leave: Collection[ShardId],
) -> _Edit:
    batch = resting(checkpoint)
    if batch is not None and not of_this_stream(lineage, batch):
        return _anew(lineage, batch, want)
    run = lineage.memo(simulate_start, lineage, checkpoint, app)
    marks = places(lineage, checkpoint, app)
    moved = _moved(lineage, run, marks, want, leave)
    if app.fails:  # such shards crash it, whatever else does
        gone = (s for s, f in run.fates.items() if f.cause is Cause.GONE and s not in leave)
        moved |= {shard: _ended(_sound(lineage, shard, marks)) for shard in gone}
    early = {
        shard for shard, mark in marks.items()
        if shard in lineage and shard not in leave and want.get(shard, START) == START
        and mark.kind != SHARD_END and _has_unread_above(lineage, shard, want)
    }
    for shard in early:
        moved.pop(shard, None)
    return _Edit(moved, frozenset(early))


def _anew(lineage: Lineage, batch: Batch, want: TargetFrontier) -> _Edit:
    """The edit for a recreated stream: only marks of shards that can be read at once."""
    roots = {shard for shard in lineage if not lineage.parents(shard)}
    moved = {
        shard: _spelled(cut, None) for shard, cut in want.items()
        if shard in lineage and (cut != START or shard in roots)
    }
    return _Edit(moved, frozenset(batch.positions.keys() - moved.keys()), lineage.stream.created)


def _moved(
    lineage: Lineage, run: Simulation, marks: Mapping[ShardId, Position], want: TargetFrontier,
    leave: Collection[ShardId],
) -> dict[ShardId, Position]:
    """The wanted marks of listed shards that would not continue where they should."""
    moved: dict[ShardId, Position] = {}
    for shard in lineage:
        fate, wanted = run.fates[shard], want.get(shard, START)
        sound = _sound(lineage, shard, marks)
        refused = sound is None and shard in marks
        ended = isinstance(fate, WontRead) and wanted == DONE and not refused
        if shard in leave or ended:
            continue
        if refused or not isinstance(fate, WillRead) or fate.at.lo != wanted:
            moved[shard] = _spelled(wanted, sound)
    return moved


def _sound(
    lineage: Lineage, shard: ShardId, marks: Mapping[ShardId, Position]
) -> Position | None:
    """The shard's mark, unless its number is no record's of it."""
    mark = marks.get(shard)
    return None if mark is None or proves_nothing(lineage, shard, mark) else mark


def _spelled(cut: Cut, before: Position | None) -> Position:
    return position_at(cut) or _ended(before)


def _ended(before: Position | None) -> Position:
    return Position(SHARD_END, before.value if before is not None else "")


def _has_unread_above(lineage: Lineage, shard: ShardId, want: TargetFrontier) -> bool:
    """Whether a parent has unread records: without a mark, the shard waits for its parents."""
    return any(want.get(parent, START) != DONE for parent in lineage.parents(shard))


def _in_the_way(
    checkpoint: Checkpoint, batch: Batch | None, moved: Mapping[ShardId, Position], app: App
) -> Cannot | None:
    if batch is None or batch.id != checkpoint.newest:
        return Cannot(
            f"batch {checkpoint.newest} is planned and not committed: its end is fixed already",
            (
                "start the query once (with failOnDataLoss=false, where it crashes at expired "
                "records), stop it when that batch is committed, and look again",
            ),
        )
    if any(position.kind not in ("AFTER_SEQUENCE_NUMBER", "TRIM_HORIZON", SHARD_END)
           for position in moved.values()):
        return Cannot("kinesis-lineage holds numbers only", ("choose a policy with numbers",))
    if checkpoint.stateful and "recount" not in app.allow:
        return Cannot(
            "the query keeps state: rows that are read again count twice",
            ("add allow=recount to the locator to repair all the same",),
        )
    return None
