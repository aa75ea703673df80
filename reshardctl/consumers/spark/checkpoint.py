"""A checkpoint directory, parsed: the batches of one query, and one source of it in full."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from reshardctl.consumers.spark.commit_log import CommitLog
from reshardctl.consumers.spark.offset_log import OffsetLog
from reshardctl.consumers.spark.positions import Position
from reshardctl.model import Anomaly, Image, ShardId

AWSLABS, QUBOLE = "awslabs", "qubole"
LINEAGE, DATABRICKS = "lineage", "databricks"
UNKNOWN = "unknown"

SCALAS = frozenset({"2.12", "2.13"})


def asynchronous(gaps: Collection[int], committed: frozenset[int]) -> bool:
    """Whether ids are missing between the offset logs, and were never committed either."""
    return bool(gaps) and committed.isdisjoint(gaps)


@dataclass(frozen=True, slots=True)
class Batch:
    """One offset log, with the positions of our source in it.

    Positions: where the batch starts for the connectors, where it ends for kinesis-lineage and
    Databricks. batch_id: the connectors' own metadata.batchId, `None` where there is none.
    broken: why the connector cannot read its line, "" where it can; what could be read of a
    broken one is in `positions` all the same. begun: whether the source has an offset at all
    (`-` where not). created: Unix seconds at which the offset's stream was created, where it says.
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
    """One file of a connector's log: where its batch ended in one shard."""

    shard: ShardId
    position: Position
    image: Image


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint directory holds, with one of its sources in full.

    source: its index, or its name in an offset log v2. stream_name: as the connector stores it,
    "" where it stores none. batches: readable offset logs, ascending; unreadable: the others, and
    why. committed: ids that have a commit file. commits: those whose file was read, and could be.
    entries: the connector's log by batch; listed: the batches whose log folder was looked into;
    strays: keys of files in it that are no entries. generation: Spark's release as far as the
    keys in `conf` tell ("3.3", "4.0-4.1", … or ""). scalas: the Scala versions whose key order
    every line has. gaps: ids missing between the oldest and the newest batch.
    spoiled: the newest commits and `metadata`, where Spark cannot read them and does not start, and
    why; committed is without the newest batch then.
    temporary: keys of files that a crashed writer left; orphans: keys of missing files whose
    checksum was left. older: how many offset logs were listed and not read. tabled:
    whether the connector's log is in a DynamoDB table.
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
    gaps: tuple[int, ...] = ()
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
    def runs_again(self) -> Batch | None:
        """The newest batch, where it ran and its commit cannot be read: that file has to go."""
        newest = self.newest
        if newest is None or f"commits/{newest}" not in self.spoiled:
            return None
        return self.batches.get(newest)

    @property
    def asynchronous(self) -> bool:
        """Whether the batches look like those of a query that tracks its progress asynchronously:
        it writes some of the ids only, and commits those (run on Spark 4.3.0)."""
        return asynchronous(self.gaps, self.committed)

    def log_folder(self, batch: int) -> str:
        """Where the connector keeps the log of a batch, "" for sources that keep none."""
        if self.tabled:
            return f"log/{batch}"
        name = {AWSLABS: "shard-source", QUBOLE: "shard-commit"}.get(self.connector)
        return f"sources/{self.source}/{name}/{batch}" if name else ""
