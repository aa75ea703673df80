"""kinesis-lineage: offsets that are ends, in a source that makes children wait for their parents.

The newest committed line is where the query goes on; editing it in place moves it (runs of
sources with ends on Spark 3.3.4 to 4.3.0, November 2026: what is put back is read again from
there; a query that keeps state counts it twice).
"""

from __future__ import annotations

from collections.abc import Collection

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.spark.app import App, Start
from reshardctl.consumers.spark.behaviour import Resumed
from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.cuts import cut_of, is_foreign, position_at
from reshardctl.consumers.spark.deaths import crash
from reshardctl.consumers.spark.files import replaced
from reshardctl.consumers.spark.hazards import obstacle
from reshardctl.consumers.spark.history import furthest
from reshardctl.consumers.spark.lines import lineage as lines
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.positions import SHARD_END, Position
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cause,
    Fate,
    Reads,
    Replay,
    ShardId,
    Span,
    Step,
    Wanted,
    at_time,
    exactly,
)


def resting(checkpoint: Checkpoint) -> Batch | None:
    """The newest committed batch: where the query starts from, what is planned beyond it aside."""
    done = [batch for batch in checkpoint.batches.values() if batch.committed]
    return done[-1] if done else None


def settled(lineage: Lineage, checkpoint: Checkpoint) -> dict[ShardId, Span]:
    """Ends of the newest committed batch; an ancestor of a shard in it is over."""
    batch = resting(checkpoint)
    places = batch.positions if batch is not None else {}
    over = _ancestors(lineage, places)
    line = {s: exactly(cut_of(p)) for s, p in places.items() if s not in lineage}
    for shard in lineage:
        position = places.get(shard)
        if position is not None and is_foreign(lineage, shard, position):
            why = "its number is no number of this shard"
            line[shard] = Span(START, furthest(lineage, shard), Basis.INFERRED, why)
        elif position is not None:
            line[shard] = exactly(cut_of(position))
        elif shard in over:
            line[shard] = exactly(DONE, Basis.INFERRED, "a shard below it was begun")
        else:
            line[shard] = exactly(START, Basis.INFERRED, "no batch names it")
    return line


def replay(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Replay:
    """Named shards go on, the others begin once their listed parents have ended."""
    batch = resting(checkpoint)
    places = dict(batch.positions) if batch is not None else {}
    over = _ancestors(lineage, places)
    fates: dict[ShardId, Fate] = {
        shard: Reads(
            exactly(cut_of(position)), DONE, frozenset(), True, Cause.GONE,
            "the shard is not listed any more",
        )
        for shard, position in places.items() if shard not in lineage
    }
    for shard in lineage:
        fates[shard] = _fate(lineage, shard, places.get(shard), shard in over, app)
    listed = {shard: Resumed(place) for shard, place in places.items() if shard in lineage}
    return Replay(fates, crash(lineage, checkpoint, listed, app))


def _fate(
    lineage: Lineage, shard: ShardId, position: Position | None, over: bool, app: App
) -> Fate:
    closed, until = not lineage.is_open(shard), furthest(lineage, shard)
    if (position is not None and position.kind == SHARD_END) or over:
        return Reads(exactly(DONE), DONE, frozenset(), True, Cause.FINISHED, "read to its end")
    if position is not None:
        why, at = "goes on behind its stored end", cut_of(position)
        return Reads(exactly(at), until, frozenset(), closed, Cause.POSITION, why)
    parents = frozenset(lineage.parents(shard))
    if parents:
        why, cause = "begins when its parents have ended", Cause.CREATED_AT_PARENT_END
        return Reads(exactly(START), until, parents, closed, cause, why)
    at = {Start.TRIM_HORIZON: START, Start.LATEST: TIP}.get(app.initial, at_time(app.time))
    why = f"begins where startingPosition={app.initial} says"
    cause = Cause.LATEST if app.initial is Start.LATEST else Cause.BOOTSTRAP
    return Reads(exactly(at), until, frozenset(), closed, cause, why)


def _ancestors(lineage: Lineage, places: Collection[ShardId]) -> set[ShardId]:
    """Listed shards without a place above one that has one."""
    found: set[ShardId] = set()
    todo = [parent for shard in places for parent in lineage.parents(shard)]
    while todo:
        shard = todo.pop()
        if shard not in found and shard not in places:
            found.add(shard)
            todo += lineage.parents(shard)
    return found


def encode(
    lineage: Lineage, checkpoint: Checkpoint, want: Wanted, app: App, leave: Collection[ShardId]
) -> list[Step] | Cannot:
    """The newest committed line with other ends."""
    run, batch = replay(lineage, checkpoint, app), resting(checkpoint)
    places = batch.positions if batch is not None else {}
    moved: dict[ShardId, Position] = {}
    for shard in lineage:
        fate, wanted = run.fates[shard], want.get(shard, START)
        if shard in leave or not isinstance(fate, Reads) or fate.at.lo == wanted:
            continue
        before = places.get(shard)
        ended = Position(SHARD_END, before.value if before is not None else "")
        moved[shard] = position_at(wanted) or ended
    if not moved:
        return []
    why = obstacle(checkpoint, moved, app) or _in_the_way(checkpoint, batch, moved, app)
    if why is not None:
        return why
    assert batch is not None, "something is in the way otherwise"
    try:
        line = lines.line(batch.log[checkpoint.source], moved)
    except Malformed as error:
        return Cannot(f"offsets/{batch.id}: {error}", ("restore offsets/ from a backup",))
    text = batch.log.replacing(checkpoint.source, line).text()
    words = f"batch {batch.id} is committed: the next one starts where this line ends"
    return [Step(f"move the end of batch {batch.id}", (replaced(batch.image, text, words),))]


def _in_the_way(
    checkpoint: Checkpoint, batch: Batch | None, moved: dict[ShardId, Position], app: App
) -> Cannot | None:
    if batch is None or batch.id != checkpoint.newest:
        return Cannot(
            f"batch {checkpoint.newest} is planned and not committed: its end is fixed already",
            ("start the query once, stop it when that batch is committed, and look again",),
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
