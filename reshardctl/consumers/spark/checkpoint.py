"""A parsed checkpoint directory: the batches of one query, and one of its sources in full."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from reshardctl.consumers.spark.commit_log import CommitLog
from reshardctl.consumers.spark.offset_log import OffsetLog
from reshardctl.consumers.spark.positions import Position
from reshardctl.model import Anomaly, Image, ShardId
from reshardctl.model.memo import Once

AWSLABS, QUBOLE = "awslabs", "qubole"
LINEAGE, DATABRICKS = "lineage", "databricks"
UNKNOWN = "unknown"

SCALAS = frozenset({"2.12", "2.13"})


def asynchronous(gaps: Sequence[range], committed: Collection[int]) -> bool:
    """Whether ids are missing between the offset logs and have no commits either."""
    starts = [gap.start for gap in gaps]
    places = ((number, bisect_right(starts, number) - 1) for number in committed)
    return bool(gaps) and not any(at >= 0 and number in gaps[at] for number, at in places)


@dataclass(frozen=True, slots=True)
class Batch:
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


@dataclass(frozen=True, slots=True)
class Entry:
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


@dataclass(frozen=True, slots=True)
class Checkpoint:
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
        strays: Keys of files in the log that the connector cannot read as entries.
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
    once: Once = field(default_factory=Once, init=False, compare=False, repr=False)
    """What was computed from these files, so that encoding and judging do it once."""

    @property
    def newest(self) -> int | None:
        """The highest batch id that Spark sees in offsets/, readable or not."""
        return max((*self.batches, *self.unreadable), default=None)

    @property
    def runs_again(self) -> Batch | None:
        """The newest batch, if its commit is unreadable and has to go, so that it runs again."""
        newest = self.newest
        if newest is None or f"commits/{newest}" not in self.spoiled:
            return None
        return self.batches.get(newest)

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
