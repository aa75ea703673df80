"""Where a query resumes its shards, and which shards the batches after the newest one name.

It resumes at the newest batch and its entries in the connector's log.

The next batch leaves ended shards out (awslabs) or does not read them, so that its log does not
name them (Qubole). The batch after that takes an open one of them for new, with its ancestors up to
one that is still named.

Sources: ShardSyncer.getLatestShardInfo, KinesisSource.getOffset and getBatch of Qubole;
ShardSyncer.getLatestShardInfo and KinesisV2MicrobatchStream.latestOffset of awslabs; runs of
Qubole's jar and of awslabs 1.4.2 in November 2026.

KinesisSource.getBatch of Qubole and KinesisV2MicrobatchStream.planInputPartitions of awslabs say
where it resumes (runs of the three builds in November 2026).

One batch reads only so much of a closed shard. awslabs from 1.4.3 on reads a closed shard in one
batch and then drops it: records after kinesis.maxFetchRecordsPerShard in that batch are lost (run
of 0f4c005: 2 of 6 records came).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.spark.checkpoint import (
    AWSLABS,
    QUBOLE,
    Batch,
    Checkpoint,
    log_of,
    planned_at,
)
from reshardctl.consumers.spark.files import ahead_of
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    LATEST,
    SHARD_END,
    Position,
    cut_of,
)
from reshardctl.consumers.spark.releases import DEFAULT_LIMIT, App
from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Fate, Rank, Risk, ShardId, WillRead, index_of, time_of
from reshardctl.model.times import instant

_BOUNDS = frozenset({AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, SHARD_END})
"""Log entries of an uncommitted batch that let awslabs run a shard again, up to them."""

SEVERAL = 2
"""Committed batches that began at a time and met no record: one is how every idle shard begins."""


class Resumed(Struct, frozen=True):
    """Where a query resumes a shard; whether in a planned batch, and where that ends, if known.

    others: Where it may resume it instead, by copies in the connector's log.
    """

    at: Position
    runs: bool = False
    until: Position | None = None
    others: tuple[Position, ...] = ()


def resumed_shards(checkpoint: Checkpoint, app: App) -> dict[ShardId, Resumed]:
    """The shards that the newest batch and its log hold, with their positions."""
    batch = checkpoint.newest_batch
    if batch is None:
        return {}
    entries = checkpoint.entries.get(log_of(batch), {})
    log = {s: e.position for s, e in entries.items()}
    if batch.committed:
        others = {s: e.others for s, e in entries.items() if e.others}
        if not app.traits.merges:
            return {s: Resumed(p, others=others.get(s, ())) for s, p in log.items()}
        late = left_over(checkpoint)
        ends = {s: log.get(s, start) for s, start in batch.positions.items()}
        return {
            s: Resumed(p if p.kind == SHARD_END else late.get(s, p), others=others.get(s, ()))
            for s, p in ends.items()
        }
    # The batch overwrites an entry, and not a copy of it: the batch after it reads both.
    copies = {s: e.copies for s, e in entries.items() if e.copies}
    runs = {
        shard: Resumed(start, runs=start.kind != SHARD_END, others=copies.get(shard, ()))
        for shard, start in batch.positions.items()
    }
    if checkpoint.connector == QUBOLE:
        # It runs them all and overwrites their entries; other entries that a crash left in the log
        # of the batch stay, and the next batch continues there.
        return {s: Resumed(p, others=copies.get(s, ())) for s, p in log.items()} | {
            shard: resumed for shard, resumed in runs.items() if resumed.runs
        }
    if not log:
        return runs
    return {s: replace(held, others=copies.get(s, ())) for s, held in _again(batch, log)}


def left_over(checkpoint: Checkpoint) -> dict[ShardId, Position]:
    """Positions in an existing log of the batch to come, from which shards would continue.

    awslabs takes the log for a crashed run's: it reads nothing in that batch of a shard that the
    log names by a time or a mark, and begins there in the next one.
    """
    batch = checkpoint.newest_batch
    if batch is None or not batch.committed or checkpoint.connector == QUBOLE:
        return {}
    entries = checkpoint.entries.get(log_of(batch) + 1, {})
    return {s: e.position for s, e in entries.items() if e.position.kind not in _BOUNDS}


def standing(checkpoint: Checkpoint) -> dict[ShardId, Position]:
    """Starts by time at which several committed batches have met no record, and so does the next.

    The batch after such a one repeats the time in its line; the newest one's log says it.
    """
    batch = checkpoint.newest_batch
    if batch is None or checkpoint.connector != AWSLABS:
        return {}
    ends = {s: e.position for s, e in checkpoint.entries.get(log_of(batch), {}).items()}
    places = {**batch.positions, **(ends if batch.committed else {})}
    timed = {s: at for s, at in places.items() if at.kind == AT_TIMESTAMP}
    if not timed:
        return {}
    lines = [one.positions for one in checkpoint.batches.values() if one.committed]
    return {
        shard: at for shard, at in timed.items()
        if sum(line.get(shard) == at for line in lines) >= SEVERAL
    }


def far_ahead(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Files of the log of later batches from which a shard would continue: entries by time or mark.

    A number or an end there bounds its batch, and is overwritten when the batch has run
    (planInputPartitions, HDFSMetadataCommitter.add with OVERWRITE).
    """
    batch = checkpoint.newest_batch
    if batch is None or checkpoint.connector != AWSLABS or checkpoint.tabled:
        return ()
    if batch.committed and batch.begun and not checkpoint.entries.get(log_of(batch)):
        return ()  # it crashes earlier
    last = log_of(batch) + (1 if batch.committed else 0)
    return tuple(
        entry.image.key for log, entries in sorted(checkpoint.entries.items()) if log > last
        for _, entry in sorted(entries.items()) if entry.position.kind not in _BOUNDS
    )


def _again(batch: Batch, log: Mapping[ShardId, Position]) -> Iterator[tuple[ShardId, Resumed]]:
    """What awslabs runs again of an uncommitted batch: shards that its log has ended.

    It stops at the record with which the log ended, which it never meets if it begins after it.
    """
    for shard, start in batch.positions.items():
        end = log.get(shard)
        if end is not None and end.kind in _BOUNDS and start.kind != SHARD_END:
            bounded = end.kind == AFTER_SEQUENCE_NUMBER and cut_of(start) < cut_of(end)
            yield shard, Resumed(start, runs=True, until=end if bounded else None)
        else:
            yield shard, Resumed(end or start)


class Following(Struct, frozen=True):
    """The shards of the next two batches.

    Attributes:
        added: Shards without a position, which the next batch names.
        forgotten: Shards that the next batch leaves out, and the one after it takes for new.
        reads: Whether the next batch reads any shard.
        changes: Whether the next batch names other shards than the newest one, or ended ones.
    """

    added: frozenset[ShardId]
    forgotten: frozenset[ShardId]
    reads: bool
    changes: bool


def following(lineage: Lineage, held: Mapping[ShardId, Resumed], app: App) -> Following:
    """What the next two batches name, where the newest one leaves these shards."""
    added = frozenset(_additions(lineage, held))
    left = {shard for shard in held if not _ends(lineage, shard, held[shard], app)}
    forgotten = frozenset(_additions(lineage, left | added))
    if app.traits.drops_closed:
        forgotten = frozenset(filter(lineage.is_open, forgotten))
    read = left or any(_is_read(lineage, shard, app) for shard in sorted(added))
    return Following(added, forgotten, bool(read), bool(added) or len(left) < len(held))


def _additions(lineage: Lineage, placed: Collection[ShardId]) -> Iterator[ShardId]:
    """Open shards without a position, and their ancestors up to one that has a position."""
    known: set[ShardId] = set()
    todo = [s for s in lineage.open_shards() if s not in placed]
    while todo:
        shard = todo.pop()
        if shard in known or shard in placed:
            continue
        known.add(shard)
        todo += lineage.parents(shard)
        yield shard


def _ends(lineage: Lineage, shard: ShardId, held: Resumed, app: App) -> bool:
    """Whether the next batch does not read a shard: ended, expired, or read to its end before."""
    if held.at.kind == SHARD_END or shard not in lineage:
        return True
    to_its_end = app.traits.drops_closed or (held.runs and held.until is None)
    return to_its_end and not lineage.is_open(shard)


def _is_read(lineage: Lineage, shard: ShardId, app: App) -> bool:
    """Whether a new shard is read: a closed one may be dropped, and one may be named as ended."""
    if app.traits.drops_closed and not lineage.is_open(shard):
        return False
    named = (app.named or {}).get(shard)
    return named is None or named.kind != SHARD_END


RATE = 1000
"""Records a second that a shard takes at most (PutRecords API reference)."""


def beyond_the_limit(lineage: Lineage, shard: ShardId, at: Position, app: App) -> str:
    """Why one batch may not reach a closed shard's end; "" where it will or nobody knows."""
    if not app.traits.drops_closed or app.limit is None:
        return ""
    seconds = _length(lineage, shard, at)
    if seconds is not None and seconds * RATE <= app.limit:
        return ""
    return (
        f"one batch reads at most {app.limit} records of it and drops the rest: raise "
        "kinesis.maxFetchRecordsPerShard, and say so with maxFetchRecordsPerShard="
    )


def _length(lineage: Lineage, shard: ShardId, at: Position) -> float | None:
    """Seconds between the position and the close, rounded up."""
    closed, cut = lineage.closed_at(shard), cut_of(at)
    since = lineage.opened_at(shard)
    if cut.rank is Rank.INSIDE:
        since = cut.time if cut.by_time else time_of(cut.number)
    return None if closed is None or since is None else closed - since + 1


def notes(
    checkpoint: Checkpoint, app: App, fates: Mapping[ShardId, Fate]
) -> Iterator[str]:
    """Notes on how far back the evidence goes, and on what this release does by itself."""
    yield from _horizon(checkpoint)
    yield from of_default(app, fates)
    if app.traits.drops_closed and app.limit is None and _reads_a_closed_one(checkpoint, fates):
        yield (
            f"{app.traits.release} reads a closed shard in one batch, up to "
            f"kinesis.maxFetchRecordsPerShard ({DEFAULT_LIMIT} unless set), and drops the rest: "
            "set it above the longest unread tail for that batch"
        )
    if app.traits.forgets_idle and _idle(checkpoint):
        yield (
            f"{app.traits.release} stores an idle shard as LATEST: what arrives between two "
            "batches of it is never read; start it with TRIM_HORIZON, or use awslabs-2.0.0 with "
            "consumerType=GetRecords (with SubscribeToShard it never gets past such a shard)"
        )


def of_default(app: App, fates: Mapping[ShardId, Fate]) -> Iterator[str]:
    """The note that the outcome depends on an option that was not given."""
    if app.by_default and any(fate.cause is Cause.GONE for fate in fates.values()):
        default = str(app.fails).lower()
        yield (
            f"failOnDataLoss={default}, the default of {app.traits.release}, is taken: shards that "
            "are not listed any more kill a query with true, and none with false; say "
            f"failOnDataLoss={str(not app.fails).lower()} if the query sets it"
        )


def _horizon(checkpoint: Checkpoint) -> Iterator[str]:
    oldest = next(iter(checkpoint.batches.values()), None)
    if oldest is None or oldest.id == 0:
        return
    since = planned_at(oldest)
    when = "" if since is None else f", of {instant(since)}"
    if checkpoint.older:
        yield (
            f"{checkpoint.older} batches before {oldest.id}{when} were not read: the next start "
            "needs none of them, and what was lost in reshards before is unknown (an audit of the "
            "sink can tell)"
        )
        return
    yield (
        f"the checkpoint's history begins with batch {oldest.id}{when}: what was lost in reshards "
        "before is unknown to it (an audit of the sink can tell)"
    )


def _reads_a_closed_one(checkpoint: Checkpoint, fates: Mapping[ShardId, Fate]) -> bool:
    return any(
        isinstance(fate, WillRead) and fate.ends and fate.cause is Cause.POSITION
        for fate in fates.values()
    ) and checkpoint.newest not in checkpoint.committed


def _idle(checkpoint: Checkpoint) -> bool:
    batch = checkpoint.newest_batch
    return batch is not None and any(
        position.kind in (LATEST, AT_TIMESTAMP) for position in batch.positions.values()
    )


def risks(checkpoint: Checkpoint) -> Iterator[Risk]:
    """A log in a table that another query writes too: the first writer of a row wins."""
    batch = checkpoint.newest_batch
    rows = ahead_of(checkpoint.images, log_of(batch)) if checkpoint.tabled and batch else ()
    if not rows:
        return
    named = (key.rpartition("/")[2] for key in rows)
    shards = sorted({ShardId(name) for name in named if index_of(name) is not None})
    why = (
        f"{len(rows)} rows, the first is {rows[0]}: another query uses the table, or an earlier "
        "checkpoint did. Its key knows no query, and the first writer wins: each query will go on "
        "at the other's positions"
    )
    helps = "give every query a table of its own; delete rows that no query is to read"
    yield Risk(Cause.SHARED_LOG, tuple(shards), why, helps)
