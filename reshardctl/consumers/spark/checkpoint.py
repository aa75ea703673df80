"""A parsed checkpoint directory: the batches of one query, and one of its sources in full.

Beside Spark's logs stands the connector's own log of a batch. Times and watermarks are in the
second line of an offset log: OffsetSeqMetadata of Spark 3.3 to 4.3; checkpoints of runs on 3.3.4 to
4.3.0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.consumers.spark.files import (
    COMMITS,
    OFFSETS,
    Folders,
    batches,
    bytes_of,
    is_orphan,
    kept_text_of,
    text_of,
    was_read,
)
from reshardctl.consumers.spark.offset_log import (
    TIMESTAMP,
    WATERMARK,
    CommitLog,
    OffsetLog,
    parse_commit_log,
    parse_offset_log,
    with_times,
)
from reshardctl.consumers.spark.positions import SHARD_END, Position
from reshardctl.consumers.spark.spark_json import Malformed, long_of, members_of
from reshardctl.errors import UsageError
from reshardctl.model import Anomaly, Image, ShardId

AWSLABS, QUBOLE = "awslabs", "qubole"
LINEAGE, DATABRICKS = "lineage", "databricks"
UNKNOWN = "unknown"

SCALAS = frozenset({"2.12", "2.13"})


def asynchronous(gaps: Sequence[range], committed: Collection[int]) -> bool:
    """Whether ids are missing between the offset logs and have no commits either."""
    starts = [gap.start for gap in gaps]
    places = ((number, bisect_right(starts, number) - 1) for number in committed)
    return bool(gaps) and not any(at >= 0 and number in gaps[at] for number, at in places)


class Batch(Struct, frozen=True):
    """One offset log, with the judged source's positions in it.

    Attributes:
        positions: Where the batch starts for the connectors, where it ends for kinesis-lineage and
            Databricks; of a broken line, those that could be read.
        batch_id: The connector's own metadata.batchId, `None` where there is none.
        broken: Why the connector cannot read its line, "" where it can.
        begun: Whether the source has an offset (not `-`).
        created: Unix seconds at which the offset's stream was created, where the offset says.
    """

    id: int
    image: Image
    log: OffsetLog
    positions: Mapping[ShardId, Position]
    batch_id: int | None
    committed: bool
    broken: str = ""
    begun: bool = True
    created: float | None = None


class Entry(Struct, frozen=True):
    """One file of a connector's log: where its batch ended in one shard.

    copies: What other files of the same folder say of that shard (`shardId-….bak`): the connector
    reads every file, and the one that the file system lists last counts.
    """

    shard: ShardId
    position: Position
    image: Image
    copies: tuple[Position, ...] = ()

    @property
    def others(self) -> tuple[Position, ...]:
        """Positions of copies that say something else."""
        return tuple(copy for copy in self.copies if copy != self.position)


class Checkpoint(Struct, frozen=True):
    """A checkpoint directory, with one of its sources in full.

    Attributes:
        source: The source's index, or its name in an offset log v2.
        stream_name: As the connector stores it, "" where it stores none.
        batches: Readable offset logs, ascending.
        unreadable: The other offset logs, and why they cannot be read.
        commits: Commit files that were read and could be.
        committed: Ids that have a commit file, without the newest batch if its commit is spoiled.
        entries: The connector's log by batch.
        listed: Batches whose log folder was read.
        strays: Keys of files in the log that the connector cannot read as entries, by batch, and
            of a file that has the name of its folder.
        generation: Spark's release as far as the keys in `conf` tell ("3.3", "4.0-4.1", … or "").
        scalas: The Scala versions whose key order every line has.
        gaps: Ids missing between the oldest and the newest batch.
        copied: The batch of which the newest offset log is a copy under another number.
        spoiled: The newest commits and `metadata` where Spark cannot read them, so does not start.
        temporary: Keys of files that a crashed writer left.
        orphans: Keys of missing files whose checksum was left.
        older: Number of offset logs that were listed and not read.
        tabled: Whether the connector's log is in a DynamoDB table.
    """

    connector: str
    source: str
    stream_name: str
    batches: Mapping[int, Batch]
    commits: Mapping[int, CommitLog]
    entries: Mapping[int, Mapping[ShardId, Entry]]
    listed: frozenset[int]
    query_id: str
    generation: str
    stateful: bool
    other_sources: tuple[str, ...]
    anomalies: tuple[Anomaly, ...]
    images: Mapping[str, Image]
    scalas: frozenset[str] = SCALAS
    committed: frozenset[int] = frozenset()
    unreadable: Mapping[int, str] = field(default_factory=dict)
    strays: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    gaps: tuple[range, ...] = ()
    copied: int | None = None
    spoiled: Mapping[str, str] = field(default_factory=dict)
    temporary: frozenset[str] = frozenset()
    orphans: frozenset[str] = frozenset()
    tabled: bool = False
    older: int = 0

    @property
    def newest(self) -> int | None:
        """The highest batch id that Spark sees in offsets/, readable or not."""
        return max((*self.batches, *self.unreadable), default=None)

    @property
    def newest_batch(self) -> Batch | None:
        """That batch, `None` where there is none or its log cannot be read."""
        newest = self.newest
        return self.batches.get(newest) if newest is not None else None

    @property
    def runs_again(self) -> Batch | None:
        """The newest batch, if its commit is unreadable and has to go, so that it runs again."""
        return self.newest_batch if f"commits/{self.newest}" in self.spoiled else None

    @property
    def asynchronous(self) -> bool:
        """Whether progress is tracked asynchronously: ids are missing (run on Spark 4.3.0)."""
        return self.copied is None and asynchronous(self.gaps, self.committed)

    def log_folder(self, batch: int) -> str:
        """The folder of the connector's log of a batch, "" for sources that keep none."""
        if self.tabled:
            return f"log/{batch}"
        name = {AWSLABS: "shard-source", QUBOLE: "shard-commit"}.get(self.connector)
        return f"sources/{self.source}/{name}/{batch}" if name else ""


class Retained(Struct, frozen=True):
    """Offset and commit logs.

    Attributes:
        images: All offset logs by id, ascending.
        logs: Those that can be read.
        unreadable: Why others cannot, without those that were not read yet.
        committed: The ids of all commit files.
        commits: Commits that were read.
        bad_commits: Why others cannot be read.
        spoiled: The newest commits that cannot be read: Spark reads the newest, and does not start.
    """

    images: Mapping[int, Image]
    logs: Mapping[int, OffsetLog]
    unreadable: Mapping[int, str]
    committed: frozenset[int]
    commits: Mapping[int, CommitLog]
    bad_commits: Mapping[int, str]
    spoiled: tuple[int, ...] = ()

    @property
    def newest(self) -> int | None:
        """The highest id that Spark sees in offsets/."""
        return max(self.images, default=None)

    @property
    def counted(self) -> frozenset[int]:
        """The ids of committed batches, without one whose spoiled commit must be removed."""
        again = self.newest if self.newest in self.spoiled else None
        return self.committed - {again}

    @property
    def gaps(self) -> tuple[range, ...]:
        """Ids missing between the oldest and the newest, never one by one: a name may be huge."""
        ids = sorted(self.images)
        return tuple(range(a + 1, b) for a, b in pairwise(ids) if b - a > 1)

    @property
    def copied(self) -> int | None:
        """The batch of which the newest offset log is a copy under another number.

        Such a file follows a gap, has no commit, and says what another one says, time stamp
        included: `cp offsets/12 offsets/20261127`. No query writes the same log twice.
        """
        newest = self.newest
        if newest is None or newest - 1 in self.images or newest in self.committed:
            return None
        log = self.logs.get(newest)
        same = (number for number, other in self.logs.items() if number != newest and other == log)
        return next(same, None)

    @property
    def asynchronous(self) -> bool:
        """Whether progress is tracked asynchronously: missing ids have no commits either."""
        return self.copied is None and asynchronous(self.gaps, self.counted)


def retained(folders: Folders) -> Retained:
    """Read the files of offsets/ and commits/ that have content."""
    images = _there(batches(folders, OFFSETS))
    logs: dict[int, OffsetLog] = {}
    unreadable: dict[int, str] = {}
    for number, image in images.items():
        if was_read(image):
            try:
                logs[number] = parse_offset_log(kept_text_of(image))
            except UsageError as error:
                raise _named(image, error) from None
            except Malformed as error:
                unreadable[number] = str(error)
    files = _there(batches(folders, COMMITS))
    commits: dict[int, CommitLog] = {}
    bad: dict[int, str] = {}
    for number, image in files.items():
        if was_read(image):
            try:
                commits[number] = parse_commit_log(text_of(image))
            except UsageError as error:
                raise _named(image, error) from None
            except Malformed as error:
                bad[number] = str(error)
    spoiled = takewhile(
        lambda number: number in bad and bytes_of(files[number]) is not None,
        sorted(files, reverse=True),
    )
    return Retained(images, logs, unreadable, frozenset(files), commits, bad, tuple(spoiled))


def _named(image: Image, error: UsageError) -> UsageError:
    return UsageError(f"{image.key}: {error.what}", error.next)


def _there(images: Mapping[int, Image]) -> dict[int, Image]:
    return {number: image for number, image in images.items() if not is_orphan(image)}


KEEPING = frozenset({AWSLABS, QUBOLE})
"""Connectors whose offsets are starts; their own log says where a batch ended."""


def log_of(batch: Batch) -> int:
    """The id of a batch in the connector's log: the one in its line, not Spark's."""
    return batch.id if batch.batch_id is None else batch.batch_id


def to_write(batch: Batch) -> int:
    """The id of the connector's log that the next start writes first: a planned batch's own."""
    return log_of(batch) + batch.committed


Entries = Mapping[int, Mapping[ShardId, Entry]]


def written_over(batch: Batch, connector: str, name: str, entries: Entries) -> bool:
    """Whether a file in the log `to_write` is overwritten before anything reads it.

    Qubole runs a batch without reading its log, and overwrites the file of each shard that is not
    at its end there (KinesisSource.getBatch, HDFSMetadataCommitter.add); awslabs reads an existing
    log first (KinesisV2MicrobatchStream.planInputPartitions). A query that was stopped while it
    wrote leaves an empty file. entries: the connector's log by batch.
    """
    shard = ShardId(name)
    start = batch.positions.get(shard)
    if batch.committed:
        entry = entries.get(log_of(batch), {}).get(shard)
        start = entry.position if entry is not None else None
    return connector == QUBOLE and start is not None and start.kind != SHARD_END


def strays_beside(checkpoint: Checkpoint, batch: Batch) -> tuple[str, ...]:
    """Strays in the log `to_write`: its batch writes beside them, and the next one reads both."""
    return tuple(
        key for key in checkpoint.strays.get(to_write(batch), ())
        if not written_over(
            batch, checkpoint.connector, key.rpartition("/")[2], checkpoint.entries
        )
    )


def log_elsewhere(checkpoint: Checkpoint) -> bool:
    """Whether the connector's log is in a DynamoDB table, under another path, or lost.

    One committed batch is enough to know, for its log was written before the commit: an uncommitted
    newest batch begins where that log says that the previous one ended. Qubole's newest batch names
    all its starts in its offset: a batch that started at the same positions read nothing, and its
    log would say no more (`rebuild` writes such checkpoints).
    """
    folder = checkpoint.log_folder(0).rpartition("/")[0]
    if not folder or any(key.startswith(f"{folder}/") for key in checkpoint.images):
        return False
    return any(
        batch.committed and batch.begun and not _read_nothing(checkpoint, batch)
        for batch in checkpoint.batches.values()
    )


def _read_nothing(checkpoint: Checkpoint, batch: Batch) -> bool:
    newest = checkpoint.newest_batch
    if checkpoint.connector != QUBOLE or newest is None or newest.committed or newest.broken:
        return False
    return batch.positions == newest.positions


LATEST_TIME = 253_402_300_800_000
"""The year 10000 in Unix milliseconds: no clock has said that."""


def planned_at(batch: Batch) -> float | None:
    """Unix seconds at which the batch was planned, `None` where the log does not say."""
    stamp = _whole(batch.log.metadata, TIMESTAMP)
    return stamp / 1000 if 0 < stamp < LATEST_TIME else None


def watermark(checkpoint: Checkpoint) -> int:
    """The watermark (Unix milliseconds, 0: none): the newest batch's or commit's, if higher."""
    batch = checkpoint.newest_batch
    planned = _whole(batch.log.metadata, WATERMARK) if batch is not None else 0
    handed = max(checkpoint.commits) if checkpoint.commits else None
    return max(planned, checkpoint.commits[handed].watermark if handed is not None else 0)


@lru_cache(maxsize=256)
def _whole(metadata: str, name: str) -> int:
    try:
        return long_of(members_of(metadata, "line 2"), name)
    except Malformed:
        return 0


def with_watermark(checkpoint: Checkpoint, batch: Batch) -> OffsetLog:
    """The log of a committed batch with the watermark that its commit hands on to the next."""
    handed = checkpoint.commits.get(batch.id)
    planned = _whole(batch.log.metadata, WATERMARK)
    if handed is None or handed.watermark <= planned:
        return batch.log
    stamp = _whole(batch.log.metadata, TIMESTAMP)
    return replace(batch.log, metadata=with_times(batch.log.metadata, stamp, handed.watermark))
