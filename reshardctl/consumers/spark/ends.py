"""kinesis-lineage: offsets that are ends, in a source that makes children wait for their parents.

The query continues from the newest committed line, so editing that line moves it (runs of sources
with ends on Spark 3.3.4 to 4.3.0, November 2026: a shard that is moved back is read again from
there; a query that keeps state counts its records twice).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.consumers.spark.app import App
from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.cuts import cut_of, position_at
from reshardctl.consumers.spark.files import replaced
from reshardctl.consumers.spark.hazards import obstacle
from reshardctl.consumers.spark.history import widened
from reshardctl.consumers.spark.lineage_start import simulate_start
from reshardctl.consumers.spark.lines import lineage as lines
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.marks import (
    had_its_turn,
    history,
    is_false_end,
    is_refused,
    last_known,
    of_this_stream,
    places,
    resting,
)
from reshardctl.consumers.spark.positions import SHARD_END, Position
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Basis,
    Cause,
    Cut,
    ShardId,
    Simulation,
    Span,
    Step,
    TargetFrontier,
    WillRead,
    WontRead,
    exactly,
)


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
    if mark is not None and is_refused(lineage, shard, mark):
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


@dataclass(frozen=True, slots=True)
class _Edit:
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
    run, marks = simulate_start(lineage, checkpoint, app), places(lineage, checkpoint, app)
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
        if shard in leave or (isinstance(fate, WontRead) and wanted == DONE):
            continue
        sound = _sound(lineage, shard, marks)
        refused = sound is None and shard in marks
        if refused or not isinstance(fate, WillRead) or fate.at.lo != wanted:
            moved[shard] = _spelled(wanted, sound)
    return moved


def _sound(
    lineage: Lineage, shard: ShardId, marks: Mapping[ShardId, Position]
) -> Position | None:
    """The shard's mark, unless its number is refused."""
    mark = marks.get(shard)
    return None if mark is None or is_refused(lineage, shard, mark) else mark


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
