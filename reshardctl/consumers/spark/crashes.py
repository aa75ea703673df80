"""What keeps a query from starting on a checkpoint, or crashes it in its first batches.

Sources: MicrobatchExecution.populateStartOffsets and HDFSMetadataLog of Spark 3.3 to 4.3; the
connectors named in behaviour; runs of November 2026 (logs missing, orphaned checksums, expired and
foreign shards in a batch).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.spark.app import App
from reshardctl.consumers.spark.checkpoint import AWSLABS, Batch, Checkpoint, asynchronous
from reshardctl.consumers.spark.conf import flaw, unreadable
from reshardctl.consumers.spark.cuts import is_ahead, is_at_end, is_foreign
from reshardctl.consumers.spark.following import Following
from reshardctl.consumers.spark.logs import log_of, written_over
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.resumed import Resumed
from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Crash, ShardId, short
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
    ) or next(_of_reading_nothing(checkpoint, batch, held, then), None)


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
    for number, wrong in ((newest, flaw), (newest - 1, unreadable)):
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
    strays = checkpoint.strays.get(log, ())
    strays = tuple(
        key for key in strays
        if not written_over(batch, checkpoint.connector, key.rpartition("/")[2])
    )
    if strays:
        why = f"{strays[0]} is no entry of the connector's log: it crashes at any other file there"
        yield Crash(why, "that file is moved elsewhere", cause=Cause.UNREADABLE)
    if batch.committed and not checkpoint.entries.get(log) and batch.begun:
        why = (
            f"batch {batch.id} is committed and the connector's log of it is missing: "
            "\"Unable to fetch committed metadata from previous batch\""
        )
        yield Crash(why, REPAIRED, cause=Cause.UNREADABLE)


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
