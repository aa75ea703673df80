"""Encodes the batch after which a query reads from the target frontier.

The connectors' offsets are starts. After a committed batch, a planned one is appended that names
every listed shard with unread records; a batch that is planned already is edited in place (runs of
Qubole's jar, awslabs 1.4.2 and 0f4c005 and of Spark 3.5 to 4.3, November 2026).

A batch that is edited in place is run again, from the new starts.

With `order=parents-first`, a batch is planned for each generation of shards. A batch does not order
its records. So the first batch is planned now, and each other one waits for the commit of the one
before it. In between, the query runs exactly one batch (Trigger.Once) and is stopped again; if it
continued, the children would begin at startingPosition (runs of the three connectors, November
2026: "parents first (once), then the children").

Some files keep Spark from starting, whatever the offsets say: commits and `metadata`. Without the
newest commit its batch runs again: its records come twice, and nothing is lost. A query with
another id reads the same (runs on Spark 3.5.9 and 4.1.4, November 2026).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.consumers.spark.behaviour import simulate_start
from reshardctl.consumers.spark.checkpoint import QUBOLE, Batch, Checkpoint, log_of, with_watermark
from reshardctl.consumers.spark.files import METADATA, created, metadata_of, removed, replaced
from reshardctl.consumers.spark.hazards import obstacle
from reshardctl.consumers.spark.history import stored
from reshardctl.consumers.spark.planned_batch import (
    LINES,
    appended,
    readable,
    unblocked,
    wiped,
    writes,
)
from reshardctl.consumers.spark.positions import BEGINNING, SHARD_END, Position, position_at
from reshardctl.consumers.spark.releases import App, Start, Traits
from reshardctl.consumers.spark.starts import following, resumed_shards, standing
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Cut,
    Fate,
    Rank,
    ShardId,
    Simulation,
    Step,
    TargetFrontier,
    WillRead,
)


def edited(
    checkpoint: Checkpoint, batch: Batch, places: Mapping[ShardId, Position], traits: Traits
) -> list[Step]:
    """Removes the batch's log, then edits its line; without a log the batch runs as planned.

    For a batch of Qubole's that reads no shard the log is removed last: such a batch writes no log,
    and without one the next batch crashes.
    """
    log = log_of(batch)
    line = LINES[checkpoint.connector](checkpoint.stream_name, log, places, traits.scala)
    steps = [*wiped(checkpoint, log)]
    text = batch.log.replacing(checkpoint.source, line).text()
    if batch.image.attributes.get("text") != {"S": text}:
        why = f"batch {batch.id} is planned and not committed: {len(places)} shards, their starts"
        edit = Step(f"plan batch {batch.id} again", (replaced(batch.image, text, why),))
        reads = any(position.kind != SHARD_END for position in batch.positions.values())
        last = checkpoint.connector == QUBOLE and not reads
        steps = [edit, *steps] if last else [*steps, edit]
    return [*unblocked(checkpoint, batch.id), *steps]


Places = Mapping[ShardId, Position]


def planned(
    lineage: Lineage, checkpoint: Checkpoint, batch: Batch, places: Places, app_traits: Traits,
    parents_first: bool,
) -> list[Step]:
    """One batch with all of these starts, or one for each generation."""
    first, *others = generations(lineage, places) if parents_first else [places]
    if not batch.committed:
        steps = edited(checkpoint, batch, first, app_traits)
    else:
        steps = appended(checkpoint, batch, first, app_traits)
    number = batch.id + batch.committed
    shift = log_of(batch) - batch.id
    for further, starts in enumerate(others, number + 1):
        line = LINES[checkpoint.connector](
            checkpoint.stream_name, further + shift, starts, app_traits.scala
        )
        text = with_watermark(checkpoint, batch).replacing(checkpoint.source, line).text()
        why = f"plans batch {further}: {len(starts)} shards, once their parents have been read"
        write = created(f"offsets/{further}", text, batch.image, why)
        title = f"plan batch {further}, when batch {further - 1} has run, alone (Trigger.Once)"
        steps.append(Step(title, (write,), barrier=f"commits/{further - 1}"))
    return steps


def generations(lineage: Lineage, places: Places) -> list[Places]:
    """Groups of shards, ancestors before descendants; shards without descendants come last."""
    behind: dict[ShardId, int] = {}  # how many of the places follow one another above a shard
    for shard in lineage:
        behind[shard] = max((behind[p] + (p in places) for p in lineage.parents(shard)), default=0)
    above = lineage.ancestors(*places)
    groups: dict[int, dict[ShardId, Position]] = {}
    for shard, position in places.items():
        groups.setdefault(behind[shard] if shard in above else len(behind), {})[shard] = position
    groups.setdefault(len(behind), {})
    return [groups[number] for number in sorted(groups)]


def encode(
    lineage: Lineage,
    checkpoint: Checkpoint,
    want: TargetFrontier,
    app: App,
    leave: Collection[ShardId],
) -> list[Step] | Cannot:
    """Steps of one file each, in an order in which no prefix is worse than the state before."""
    run = lineage.memo(simulate_start, lineage, checkpoint, app)
    if not _differs(lineage, want, run, leave):
        return []
    torn, checkpoint = checkpoint, readable(lineage, checkpoint, app.traits.scala)
    again = writes(torn, checkpoint)
    if again and not _differs(
        lineage, want, lineage.memo(simulate_start, lineage, checkpoint, app), leave
    ):
        return obstacle(checkpoint, {}, app) or again
    batch = checkpoint.newest_batch
    if any(_marks_the_tip(lineage, checkpoint, s, want) for s in want if s not in leave):
        return Cannot(
            "a connector resolves LATEST again in every batch until a record comes: what arrives "
            "between two batches is never read",
            ("--policy latest pins every shard to a number, and misses nothing from then on",),
        )
    places = _places(lineage, checkpoint, want, app, leave)
    why = obstacle(checkpoint, places, app)
    if why is not None:
        return why
    assert batch is not None, "an obstacle otherwise"
    steps = planned(lineage, checkpoint, batch, places, app.traits, app.parents_first)
    now = [step for step in steps if not step.barrier]  # the query starts after the last of these
    return [*now, *again, *steps[len(now):]]


def _differs(
    lineage: Lineage, want: TargetFrontier, run: Simulation, leave: Collection[ShardId]
) -> bool:
    if run.crash is not None:
        return True
    return any(
        not _reads_it(lineage, shard, run.fates[shard], want.get(shard, START))
        for shard in lineage if shard not in leave
    )


def _reads_it(lineage: Lineage, shard: ShardId, fate: Fate, wanted: Cut) -> bool:
    """Whether the shard is read from the wanted cut to its end without a write."""
    if over(lineage, shard, wanted):
        return not isinstance(fate, WillRead) or over(lineage, shard, fate.at.lo)
    if not isinstance(fate, WillRead) or not fate.at.exact:
        return False
    if fate.cause is Cause.TIME_NOT_PASSED:
        return False
    return fate.at.lo == wanted and fate.until == furthest(lineage, shard)


def _marks_the_tip(
    lineage: Lineage, checkpoint: Checkpoint, shard: ShardId, want: TargetFrontier
) -> bool:
    """Whether an open shard that is not stored as LATEST would have to be."""
    tip = want[shard] == TIP and shard in lineage and lineage.is_open(shard)
    return tip and stored(checkpoint, shard, TIP) is None


def over(lineage: Lineage, shard: ShardId, cut: Cut) -> bool:
    """Whether nothing is left after the cut: the end, or the tip of a closed shard."""
    if cut == DONE:
        return True
    end = lineage[shard].end
    if end is None:
        return False
    return cut == TIP or (cut.rank is Rank.INSIDE and not cut.by_time and cut.number >= int(end))


def _places(
    lineage: Lineage,
    checkpoint: Checkpoint,
    want: TargetFrontier,
    app: App,
    leave: Collection[ShardId],
) -> dict[ShardId, Position]:
    """The start of every listed shard with unread records; others would crash the query.

    A shard in `leave` keeps the start that it has without the plan: one that no batch would name is
    not named.
    """
    held = resumed_shards(checkpoint, app)
    new = following(lineage, held, app).added
    stuck = standing(checkpoint) if app.never_passes_time else {}
    places = {}
    for shard in lineage:
        if shard in leave:
            if shard not in held and shard not in new:
                continue
            at = held[shard].at if shard in held else _initial(app, shard)
            dropped = app.traits.drops_closed and not lineage.is_open(shard)
            if at is not None and at.kind != SHARD_END and not dropped:
                places[shard] = at
            continue
        wanted = want.get(shard, START)
        at = stored(checkpoint, shard, wanted) or position_at(wanted)
        if at is not None and at == stuck.get(shard):
            at = BEGINNING  # no number is known at which it would get on
        if at is not None and not over(lineage, shard, wanted):
            places[shard] = at
    return places


def _initial(app: App, shard: ShardId) -> Position | None:
    """Where a shard in `leave` begins; `None` for the tip, whose time only the next start knows."""
    if app.named is not None and shard in app.named:
        return app.named[shard]
    return BEGINNING if app.initial is Start.TRIM_HORIZON else None


def startable(checkpoint: Checkpoint) -> Iterator[Step]:
    """The steps after which Spark starts; before the last of them it does not."""
    for key, reason in checkpoint.spoiled.items():
        image = checkpoint.images.get(key)
        why = f"Spark cannot read it and does not start: {reason}"
        if key != METADATA:
            yield Step(f"remove {key}", (removed(checkpoint.images[key], why),))
            continue
        if not checkpoint.batches:  # no place is stored that a new query could go on from
            continue
        newest = checkpoint.batches[max(checkpoint.batches)].image
        text = metadata_of(image, newest)
        write = created(key, text, newest, why) if image is None else replaced(image, text, why)
        yield Step("write metadata again", (write,))
