"""Simulates what the JVM connectors do when a query starts on a checkpoint, or what crashes it.

Their offsets hold the positions at which a batch starts. A committed batch is not run again: the
next one starts where the log of that batch ends. An uncommitted one runs first, from its own line.
Then the listing is compared: unlisted shards are dropped or crash the query, and shards without a
position begin at startingPosition, with all their ancestors up to one with a position. No shard
waits for a parent. An open shard that is marked as ended is forgotten by the next batch, and begins
like a new one in the batch after it (starts.py).

Sources: ShardSyncer.getLatestShardInfo, KinesisSource.getOffset and getBatch of Qubole;
ShardSyncer.updateShard, KinesisV2MicrobatchStream.latestOffset and planInputPartitions of awslabs;
MicrobatchExecution.populateStartOffsets and HDFSMetadataLog of Spark 3.3 to 4.3; runs of the three
builds in November 2026, crashes included (logs missing, orphaned checksums, expired and foreign
shards in a batch).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.consumers.spark.checkpoint import (
    AWSLABS,
    Batch,
    Checkpoint,
    asynchronous,
    log_of,
    strays_beside,
    to_write,
)
from reshardctl.consumers.spark.history import Head, passed_by
from reshardctl.consumers.spark.offset_log import flaw_of_conf, unreadable
from reshardctl.consumers.spark.positions import (
    AT_TIMESTAMP,
    LATEST,
    SHARD_END,
    Position,
    cut_of,
    is_ahead,
    is_at_end,
    is_foreign,
    start_in,
)
from reshardctl.consumers.spark.releases import App, Start
from reshardctl.consumers.spark.starts import (
    Following,
    Resumed,
    beyond_the_limit,
    following,
    left_over,
    notes,
    resumed_shards,
    risks,
    standing,
)
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Crash,
    Cut,
    Fate,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    at_time,
    exactly,
    short,
)
from reshardctl.model.times import instant

REPAIRED = "the checkpoint is repaired"


def crash(
    lineage: Lineage, checkpoint: Checkpoint, held: Mapping[ShardId, Resumed], then: Following,
    app: App,
) -> Crash | None:
    """The first cause of a crash of a connector's query, `None` where there is none."""
    of_spark = crash_of_spark(checkpoint, app)
    if of_spark is not None or checkpoint.newest is None:
        return of_spark
    batch = checkpoint.batches[checkpoint.newest]
    return next(_of_log(checkpoint, batch), None) or next(
        _of_shards(lineage, batch, held, then, app), None
    ) or next(_of_reading_nothing(checkpoint, batch, held, then), None) or _of_next_log(
        checkpoint, batch, app
    )


def crash_of_spark(checkpoint: Checkpoint, app: App) -> Crash | None:
    """The first cause of a crash in Spark's own files, whatever the source is."""
    if checkpoint.newest is None:
        return _from_the_beginning(checkpoint)
    return next(_of_spark(checkpoint, app), None)


def _from_the_beginning(checkpoint: Checkpoint) -> Crash | None:
    """The crash of a query whose offset logs are gone and whose commits are not.

    Spark begins at batch 0 again and crashes at the first commit that exists (HDFSMetadataLog.add;
    "Concurrent update to the commit log").
    """
    if not checkpoint.committed:
        return None
    first = min(checkpoint.committed)
    why = (
        f"commits/{first} is there and offsets/ is empty: Spark begins at batch 0 again, runs it "
        f"and stops at batch {first} with a concurrent update of its log"
    )
    return Crash(why, REPAIRED, certain=first == 0, cause=Cause.UNREADABLE)


def _of_spark(checkpoint: Checkpoint, app: App) -> Iterator[Crash]:
    """Crashes of Spark itself: it reads the two newest offset logs, and commits in order."""
    newest = checkpoint.newest
    assert newest is not None
    if checkpoint.copied is not None:
        why = (
            f"offsets/{newest} is a copy of offsets/{checkpoint.copied}: Spark takes it for the "
            f"newest batch, and offsets/{newest - 1} does not exist"
        )
        sure = not asynchronous(checkpoint.gaps[:-1], checkpoint.committed)
        until = f"offsets/{newest} is moved elsewhere"
        yield Crash(why, until, certain=sure, cause=Cause.UNREADABLE)
    for key, reason in checkpoint.spoiled.items():
        yield Crash(f"{key} cannot be read: {reason}", REPAIRED, cause=Cause.UNREADABLE)
    for number in (newest, newest - 1):
        if number in checkpoint.unreadable:
            why = f"offsets/{number} cannot be read: {checkpoint.unreadable[number]}"
            yield Crash(why, REPAIRED, cause=Cause.UNREADABLE)
        elif number >= 0 and number not in checkpoint.batches:
            if checkpoint.asynchronous:  # takes the newest earlier batch that exists
                continue
            why = f"offsets/{number} is missing: Spark reads it beside offsets/{newest}"
            yield Crash(why, REPAIRED, cause=Cause.UNREADABLE)
        elif number >= 0 and checkpoint.batches[number].broken:
            why = f"offsets/{number}: {checkpoint.batches[number].broken}"
            yield Crash(why, REPAIRED, cause=Cause.UNREADABLE)
    # Without a record most releases plan no batch (avoidEmptyBatches), so an idle query does not
    # crash.
    waits = not app.traits.plans_empty
    yield from _of_second_lines(checkpoint, newest, waits)
    if any(number > newest for number in checkpoint.committed):
        ahead = max(checkpoint.committed)
        why = f"commits/{ahead} is there without offsets/{ahead}: Spark stops when it gets there"
        yield Crash(why, REPAIRED, certain=not waits, cause=Cause.UNREADABLE)
    following = newest + 1 if newest in checkpoint.committed else newest
    for key in (f"offsets/{newest + 1}", f"commits/{following}"):
        if key in checkpoint.orphans:
            why = (
                f"the checksum of {key} was left without its file: Spark cannot write that file "
                "(\"Multiple streaming queries are concurrently using\")"
            )
            certain = key == f"commits/{newest}" or not waits
            until = "the orphaned checksum is removed"
            yield Crash(why, until, certain=certain, cause=Cause.UNREADABLE)


def _of_second_lines(checkpoint: Checkpoint, newest: int, waits: bool) -> Iterator[Crash]:
    """Second lines that Spark cannot read; an empty one crashes it when a batch is to end."""
    for number, wrong in ((newest, flaw_of_conf), (newest - 1, unreadable)):
        batch = checkpoint.batches.get(number)
        if batch is None or batch.broken or not (why := wrong(batch.log.metadata)):
            continue
        late = waits and batch.committed and not unreadable(batch.log.metadata)
        why = f"offsets/{number}: {why}"
        yield Crash(why, REPAIRED, certain=not late, cause=Cause.UNREADABLE)


def _of_log(checkpoint: Checkpoint, batch: Batch) -> Iterator[Crash]:
    """Crashes at the connector's log: missing for a committed batch, or with foreign files.

    A planned batch writes its entries beside such a file and then reads both.
    """
    log = log_of(batch)
    if log not in checkpoint.listed:
        return
    strays = checkpoint.strays.get(log, ()) if batch.committed else strays_beside(checkpoint, batch)
    if strays:
        why = f"{strays[0]} is no entry of the connector's log: it crashes at any other file there"
        yield Crash(why, "that file is moved elsewhere", cause=Cause.UNREADABLE)
    if batch.committed and not checkpoint.entries.get(log) and batch.begun:
        why = (
            f"batch {batch.id} is committed and the connector's log of it is missing: "
            "\"Unable to fetch committed metadata from previous batch\""
        )
        yield Crash(why, REPAIRED, cause=Cause.UNREADABLE)


def _of_next_log(checkpoint: Checkpoint, batch: Batch, app: App) -> Crash | None:
    """The crash at a file in the log of the batch to come, when that has run.

    A file that has the name of the log's folder keeps the batch from writing its entries.
    """
    if not batch.committed or not (strays := strays_beside(checkpoint, batch)):
        return None
    why = (
        f"{strays[0]} is no entry of the connector's log: batch {batch.id + 1} writes its own "
        "beside it, and the connector crashes at any other file when it reads them"
    )
    if strays[0] == checkpoint.log_folder(to_write(batch)):
        why = (
            f"{strays[0]} is a file, and batch {batch.id + 1} needs a folder of that name for its "
            "log: it crashes when it has read its records"
        )
    waits = not app.traits.plans_empty
    return Crash(why, "that file is moved elsewhere", certain=not waits, cause=Cause.UNREADABLE)


def _of_shards(
    lineage: Lineage, batch: Batch, held: Mapping[ShardId, Resumed], then: Following, app: App
) -> Iterator[Crash]:
    """Crashes at expired shards, depending on failOnDataLoss, and at refused numbers.

    An awslabs query that ran a planned batch again plans the next one only when there is something
    to read: it takes a refused number for a shard without records (hasNewData).
    """
    plans = batch.committed or then.changes or app.traits.connector != AWSLABS
    gone = [shard for shard in held if shard not in lineage]
    if gone and app.fails:
        why = f"shard {short(gone[0])} is not listed any more, and failOnDataLoss=true"
        yield Crash(why, "failOnDataLoss=false, or a repair", cause=Cause.GONE, by=tuple(gone))
    asked = [shard for shard in gone if held[shard].runs and app.traits.always_crashes]
    if asked:
        why = (
            f"the planned batch names shard {short(asked[0])}, which is not listed any more: "
            f"{app.traits.release} crashes at it whatever failOnDataLoss says"
        )
        sure = not all(held[shard].others for shard in asked)
        yield Crash(why, REPAIRED, certain=sure, cause=Cause.GONE, by=tuple(asked))
    for shard, resumed in held.items():
        dropped = app.traits.drops_closed and shard in lineage and not lineage.is_open(shard)
        if is_foreign(lineage, shard, resumed.at) and (resumed.runs or not dropped):
            certain = (plans or resumed.runs) and not resumed.others
            yield _refused(lineage, shard, resumed.at, certain=certain)
        for other in resumed.others:
            if is_foreign(lineage, shard, other) and not dropped:
                yield _refused(lineage, shard, other, certain=False)


def _refused(lineage: Lineage, shard: ShardId, at: Position, *, certain: bool) -> Crash:
    if is_ahead(lineage, shard, at):
        time = instant(int(at.value) / 1000)
        why = f"shard {short(shard)} begins at {time}: Kinesis refuses a time in the future"
        return Crash(why, REPAIRED, certain=certain, cause=Cause.CLOCK_AHEAD, by=(shard,))
    why = f"{at.value} is no number of a record of shard {short(shard)}"
    cause = Cause.AT_END if is_at_end(lineage, shard, at) else Cause.FOREIGN_NUMBER
    return Crash(why, REPAIRED, certain=certain, cause=cause, by=(shard,))


def _of_reading_nothing(
    checkpoint: Checkpoint, batch: Batch, held: Mapping[ShardId, Resumed], then: Following
) -> Iterator[Crash]:
    """Crashes after a batch that read no shard, so wrote no log."""
    log = log_of(batch)
    runs = any(resumed.runs for resumed in held.values())
    if not (batch.committed or runs or checkpoint.entries.get(log)) and batch.begun:
        why = f"batch {batch.id} names no shard to read, and leaves no log for the one after it"
        yield Crash(why, REPAIRED, cause=Cause.UNREADABLE)
    elif held and not then.reads and not checkpoint.entries.get(log + 1):
        why = (
            "every open shard is marked as ended: the next batch reads nothing, and leaves no log "
            "for the one after it"
        )
        yield Crash(why, REPAIRED, cause=Cause.FALSE_END, by=tuple(held))


NOBODY: frozenset[ShardId] = frozenset()
_NOT_LOOKED_AT = WontRead(
    Cause.NO_POSITION,
    "no batch has a position of it, and nothing below it is new: it is not looked at",
)
_COPIES = (
    "goes on at its stored position or at that of a copy in the connector's log: of files that "
    "speak of one shard, the one that the file system lists last counts"
)
_NEVER_PAST = (
    "with consumerType=SubscribeToShard {} never gets past a start by time that met no record, and "
    "asks for it again in every batch"
)


def simulate_start(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Simulation:
    """Returns a fate for every listed shard and every unlisted one that the newest batch holds."""
    held = resumed_shards(checkpoint, app)
    then = following(lineage, held, app)
    stuck = standing(checkpoint) if app.never_passes_time else {}
    run = _Run(
        lineage, held, then, app, lineage.memo(passed_by, lineage, checkpoint),
        left_over(checkpoint), stuck,
    )
    fates: dict[ShardId, Fate] = {s: run.unlisted(s) for s in held if s not in lineage}
    fates |= {shard: run.fate(shard) for shard in lineage}
    return Simulation(
        fates, crash(lineage, checkpoint, held, then, app), tuple(notes(checkpoint, app, fates)),
        tuple(risks(checkpoint)), orders=False,
    )


def _alike(_lineage: Lineage, place: tuple[Cut, Cause, bool, str]) -> WillRead:
    at, cause, closed, why = place
    return WillRead(exactly(at), DONE if closed else TIP, NOBODY, closed, cause, why)


class _Run:
    """One start: the shards with a position, and those that the listing adds."""

    def __init__(
        self, lineage: Lineage, held: Mapping[ShardId, Resumed], then: Following, app: App,
        heads: Mapping[ShardId, Head], late: Mapping[ShardId, Position],
        stuck: Mapping[ShardId, Position],
    ) -> None:
        self._lineage, self._held, self._app, self._heads = lineage, held, app, heads
        self._then, self._late, self._stuck = then, late, stuck

    def unlisted(self, shard: ShardId) -> Fate:
        """The fate of an unlisted shard: dropped from the next batch on, if none crashes."""
        at = exactly(cut_of(self._held[shard].at))
        why = "the shard is not listed any more: the connector passes over it"
        return WillRead(at, DONE, NOBODY, True, Cause.GONE, why)

    def fate(self, shard: ShardId) -> Fate:
        """The fate of a listed shard."""
        drops = self._app.traits.drops_closed and not self._lineage.is_open(shard)
        held = self._held.get(shard)
        if shard in self._then.forgotten:
            again = self._begins(shard)
            if held is not None and held.runs and isinstance(again, WillRead):
                return min(self._goes_on(shard, held), again, key=lambda fate: fate.at.lo)
            return again
        if held is not None and held.at == self._stuck.get(shard):
            return self._stands(shard, held)
        if held is not None:
            return self._dropped(shard, held) if drops else self._goes_on(shard, held)
        if drops:
            return self._passed_over("takes every closed shard that it has no position of for read")
        if shard in self._then.added:
            late = self._late.get(shard)
            at_end = furthest(self._lineage, shard)
            return self._begins(shard) if late is None else self._reads(shard, late, at_end)
        return _NOT_LOOKED_AT

    def _goes_on(self, shard: ShardId, held: Resumed) -> WillRead:
        if held.at.kind == SHARD_END and not held.others:
            return self._over(shard)
        return self._reads(shard, held.at, furthest(self._lineage, shard), held.others)

    def _stands(self, shard: ShardId, held: Resumed) -> Fate:
        """The fate of a shard at a start by time, in a query that may never get past it."""
        why = _NEVER_PAST.format(self._app.traits.release)
        if self._app.type_is_told:
            return WontRead(Cause.TIME_NOT_PASSED, why)
        closed = not self._lineage.is_open(shard)
        at = exactly(start_in(self._lineage, shard, held.at))
        until = furthest(self._lineage, shard)
        cause, goes_on = Cause.TIME_NOT_PASSED, "goes on at the time at which it first met it"
        return WillRead(at, until, NOBODY, closed, cause, goes_on, possible=why)

    def _dropped(self, shard: ShardId, held: Resumed) -> Fate:
        """The fate of a closed shard, which only a batch planned already reads."""
        if held.at.kind == SHARD_END and not (held.runs and held.others):
            return self._over(shard)
        if not held.runs:
            why = "takes every closed shard for read to its end, whatever its place"
            return self._passed_over(why)
        until = DONE if held.until is None else cut_of(held.until)
        return self._reads(shard, held.at, until, held.others)

    def _reads(
        self, shard: ShardId, at: Position, until: Cut, others: tuple[Position, ...] = ()
    ) -> WillRead:
        """Reads the shard from its position, or from one that a copy in the log names."""
        closed = not self._lineage.is_open(shard)
        possible = beyond_the_limit(self._lineage, shard, at, self._app) if closed else ""
        cut = start_in(self._lineage, shard, at)
        cuts = {cut, *(start_in(self._lineage, shard, other) for other in others)}
        if len(cuts) > 1:
            span = Span(min(cuts), max(cuts))
            return WillRead(span, until, NOBODY, closed, Cause.POSITION, _COPIES)
        if at.kind == LATEST:
            why = "stored as LATEST: begins at the tip as of each batch"
            return WillRead(exactly(TIP), until, NOBODY, closed, Cause.LATEST, why)
        cause = Cause.REFILLED if at.kind == AT_TIMESTAMP else Cause.POSITION
        why = "goes on at its stored position"
        if at.kind == AT_TIMESTAMP:
            why = "goes on at the time at which the query first met it"
        elif cut != START and shard in self._heads:
            cause, why = Cause.HEAD_PASSED, f"{why}; {self._heads[shard].why}"
        if others:
            why = f"{why}, once more where a copy in the connector's log counts in the batch after"
        return WillRead(exactly(cut), until, NOBODY, closed, cause, why, possible=possible)

    def _begins(self, shard: ShardId) -> Fate:
        """Begins the shard at startingPosition; LATEST is the time of the driver's start."""
        closed = not self._lineage.is_open(shard)
        initial = self._app.initial
        if (named := (self._app.named or {}).get(shard)) is not None:
            return self._begins_as_named(shard, named, closed)
        if initial is Start.LATEST:
            why = "begins where startingPosition=LATEST says: at the time of the query's start"
            return self._shared(TIP, Cause.LATEST, closed, why)
        at = START if initial is Start.TRIM_HORIZON else at_time(self._app.time)
        why = f"begins where startingPosition={initial} says"
        return self._shared(at, Cause.REFILLED, closed, why)

    def _shared(self, at: Cut, cause: Cause, closed: bool, why: str) -> WillRead:
        """One fate for all shards that are alike, in this start and in those after a plan."""
        return self._lineage.memo.once(_alike, self._lineage, (at, cause, closed, why))

    def _begins_as_named(self, shard: ShardId, at: Position, closed: bool) -> Fate:
        """Begins the shard where a startingPosition as JSON says."""
        if at.kind == SHARD_END and closed:
            return self._over(shard)
        why = "startingPosition names it"
        if at.kind == SHARD_END:
            return WontRead(Cause.FALSE_END, f"{why} as ended, while it is open")
        cause = Cause.LATEST if at.kind == LATEST else Cause.REFILLED
        span = exactly(start_in(self._lineage, shard, at))
        return WillRead(span, furthest(self._lineage, shard), NOBODY, closed, cause, why)

    def _over(self, shard: ShardId) -> WillRead:
        cause, why = Cause.FINISHED, "read to its end"
        if shard in self._heads:
            cause, why = Cause.HEAD_PASSED, f"{why}; {self._heads[shard].why}"
        return self._shared(DONE, cause, True, why)

    def _passed_over(self, what: str) -> Fate:
        why = f"{self._app.traits.release} {what}"
        return self._shared(DONE, Cause.TAKEN_FOR_READ, True, why)
