"""How releases of Spark's Kinesis connectors differ in what they do at a restart.

What a query is started with stands beside it, because no checkpoint holds it.

Sources: ShardSyncer, KinesisSource and KinesisSourceRDD of qubole/kinesis-sql 8d0f125; ShardSyncer,
KinesisV2MicrobatchStream, KinesisV2PartitionReader and KinesisClientConsumerImpl of
awslabs/spark-sql-kinesis-connector at v1.4.2, branch-1.4.3, v2.0.0 and 0f4c005; runs of Qubole's
jar from Maven and of awslabs 1.4.2 and 0f4c005 in November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.options import Known, newer_patch, same_commit
from reshardctl.consumers.spark.checkpoint import AWSLABS, DATABRICKS, LINEAGE, QUBOLE, Checkpoint
from reshardctl.consumers.spark.positions import Position
from reshardctl.errors import UsageError
from reshardctl.model import ShardId


class Traits(Struct, frozen=True):
    """What distinguishes one connector's releases.

    Attributes:
        release: The name that stands for them.
        connector: Whose files they read.
        scala: The version they are built for, which decides the order of the keys that they write;
            "" for Python's order.
        drops_closed: A closed shard counts as read to its end, whatever its position.
        merges: Positions are those of the newest offset line, overruled by the log of its batch;
            otherwise only the log counts.
        fails: The default of failOnDataLoss.
        always_crashes: A batch that names an expired shard crashes even without failOnDataLoss.
        forgets_idle: A start by time that meets no record is stored as LATEST, in every batch.
        plans_empty: An idle query plans batches too (the default of avoidEmptyBatches is false).
        never_passes_time: With SubscribeToShard, a start by time that meets no record is asked for
            again for ever (fixed by #92).
    """

    release: str
    connector: str
    scala: str
    drops_closed: bool
    merges: bool
    fails: bool
    always_crashes: bool
    forgets_idle: bool
    plans_empty: bool
    source: str
    never_passes_time: bool = False


QUBOLE_1_2 = Traits(
    "qubole-1.2.0_spark-3.0", QUBOLE, "2.12", drops_closed=False, merges=False, fails=True,
    always_crashes=False, forgets_idle=False, plans_empty=True,
    source="KinesisSource, ShardSyncer and KinesisSourceRDD of 8d0f125; runs of "
    "spark-sql-kinesis_2.12:1.2.0_spark-3.0 on Spark 3.5.9",
)
RONCEMER_1_2_3 = replace(
    QUBOLE_1_2, release="roncemer-1.2.3_spark-3.2", scala="2.13", plans_empty=False,
    source="4ef4cea: Qubole's format and logic, built for Scala 2.13; KinesisSource differs in the "
    "default of avoidEmptyBatches (true)",
)
AWSLABS_1_4_2 = Traits(
    "awslabs-1.4.2", AWSLABS, "2.12", drops_closed=False, merges=True, fails=False,
    always_crashes=True, forgets_idle=False, plans_empty=False, never_passes_time=True,
    source="v1.4.2, in which planning never hands failOnDataLoss to its client (fixed by #81 "
    "and #88); runs on Spark 3.5.9; RecordBatchPublisher.getNextStartingPosition and "
    "EfoRecordBatchPublisher: SENTINEL_AT_TIMESTAMP keeps its place (#91)",
)
AWSLABS_1_4_3 = replace(
    AWSLABS_1_4_2, release="awslabs-1.4.3", drops_closed=True, always_crashes=False,
    source="branch-1.4.3: ShardSyncer.updateShard (#65), failOnDataLoss handed on (#88)",
)
AWSLABS_2_0 = replace(
    AWSLABS_1_4_3, release="awslabs-2.0.0", scala="2.13",
    source="v2.0.0: ShardSyncer.updateShard (#65), failOnDataLoss handed on (#81)",
)
AWSLABS_HEAD = replace(
    AWSLABS_2_0, release="awslabs-head-0f4c005", forgets_idle=True, never_passes_time=False,
    source="0f4c005: KinesisV2PartitionReader.updateMetadata (#92); runs on Spark 4.1.4 and 4.3.0",
)
KINESIS_LINEAGE = Traits(
    "kinesis-lineage", LINEAGE, "", drops_closed=False, merges=True, fails=True,
    always_crashes=True, forgets_idle=False, plans_empty=False,
    source="reshardctl's own Python data source: offsets are ends, children wait for their parents",
)
DATABRICKS_ANY = Traits(
    "databricks", DATABRICKS, "", drops_closed=False, merges=True, fails=True,
    always_crashes=True, forgets_idle=False, plans_empty=True,
    source="Databricks' documentation of its StreamingQueryListener events; its source is closed",
)

RELEASES = (
    QUBOLE_1_2, RONCEMER_1_2_3, AWSLABS_1_4_2, AWSLABS_1_4_3, AWSLABS_2_0, AWSLABS_HEAD,
    KINESIS_LINEAGE, DATABRICKS_ANY,
)

AWSLABS_KNOWN = Known("awslabs connector", (
    (1, 0, 0), (1, 1, 0), (1, 2, 1), (1, 3, 0), (1, 4, 3), (2, 0, 0), (2, 1, 0),
), "awslabs-")  # fmt: skip
"""By the tags of the project and branch-1.4.3; main is called 2.1.0-SNAPSHOT."""

_NUMBERED = re.compile(r"awslabs-(\d+)(?:\.(\d+))?(?:\.(\d+))?(-SNAPSHOT)?\Z", re.ASCII)
_TAGGED = {(1,): (1, 4, 2), (1, 4): (1, 4, 2), (2,): (2, 0)}
"""Prefixes that mean a release, not a branch."""
_HEAD = re.compile(r"awslabs-(?:main|head)(?:-([0-9a-f]{7,40}))?\Z", re.ASCII)
_COMMIT = "0f4c005"
_PATCHED = re.compile(r"(qubole-1\.2|roncemer-1\.2)\.(\d+)(?:_spark-\d+\.\d+)?\Z", re.ASCII)
_KNOWN = ", ".join(traits.release for traits in RELEASES)


def traits_of(release: str) -> tuple[Traits, ...]:
    """The traits of a version or build, or all that a prefix leaves open; raises UsageError."""
    return _placed(release)[0]


def note_of(release: str | None) -> str:
    """The note that another release stands for the named one; "" where none does."""
    return _placed(release)[1] if release else ""


def _placed(release: str) -> tuple[tuple[Traits, ...], str]:
    """The matching traits, and the note if they are another release's."""
    if match := _HEAD.match(release):
        other = match[1] and not same_commit(match[1], _COMMIT)
        return (AWSLABS_HEAD,), newer_patch(release, AWSLABS_HEAD.release) if other else ""
    if match := _NUMBERED.match(release):
        version = tuple(int(part) for part in match.groups()[:3] if part)
        return _awslabs(release, version, snapshot=bool(match[4]))
    fitting = tuple(traits for traits in RELEASES if _begins(traits.release, release))
    if not fitting and (match := _PATCHED.match(release)):
        return _patched(release, match)
    if not fitting:
        raise UsageError(
            f"release={release}: no such Kinesis connector is known to this reshardctl",
            f"it knows {_KNOWN}; look for the connector's jar in the query's --jars or --packages",
        )
    return fitting, ""


def _begins(known: str, release: str) -> bool:
    """Whether a known release is the named one, or begins with it and a separator."""
    return known == release or known.startswith(tuple(f"{release}{mark}" for mark in "-._"))


def _awslabs(
    release: str, version: tuple[int, ...], *, snapshot: bool
) -> tuple[tuple[Traits, ...], str]:
    """Match by the project's tags: 1.4.3 was never tagged, main is called 2.1."""
    matched = AWSLABS_KNOWN.matching(release, _TAGGED.get(version, version))
    if matched.version[:2] == (2, 1):
        exact = snapshot or len(version) < 3
        return (AWSLABS_HEAD,), "" if exact else newer_patch(release, AWSLABS_HEAD.release)
    if matched.version[:2] == (2, 0):
        return (AWSLABS_2_0,), matched.note
    return (AWSLABS_1_4_3 if matched.version >= (1, 4, 3) else AWSLABS_1_4_2,), matched.note


def _patched(release: str, match: re.Match[str]) -> tuple[tuple[Traits, ...], str]:
    """Match a newer patch of a connector that is known in one build."""
    known = next(t for t in RELEASES if t.release.startswith(match[1]))
    patch = int(known.release.removeprefix(f"{match[1]}.").partition("_")[0])
    if int(match[2]) < patch:
        raise UsageError(
            f"release={release}: no such Kinesis connector is known to this reshardctl",
            f"it knows {_KNOWN}",
        )
    return (known,), newer_patch(release, known.release)


def starters(checkpoint: Checkpoint) -> tuple[Traits, ...]:
    """The releases that may have written the checkpoint, by its syntax and the order of its keys.

    All JVM releases for one without a batch; none for a source that no known connector writes.
    """
    if not any(batch.begun for batch in checkpoint.batches.values()):
        return tuple(traits for traits in RELEASES if traits.connector in (QUBOLE, AWSLABS))
    same = tuple(traits for traits in RELEASES if traits.connector == checkpoint.connector)
    fitting = tuple(t for t in same if not t.scala or t.scala in checkpoint.scalas)
    return fitting or same


DEFAULT_LIMIT = 100_000
"""maxFetchRecordsPerShard unless it is set (KinesisOptions of awslabs; KinesisSourceRDD)."""


class Start(StrEnum):
    """The source option startingPosition: where shards without a position begin."""

    TRIM_HORIZON = "TRIM_HORIZON"
    LATEST = "LATEST"
    AT_TIMESTAMP = "AT_TIMESTAMP"


class Sink(StrEnum):
    """What the query writes to, as far as a repair depends on it."""

    OTHER = "other"
    """No file sink: foreachBatch, Kafka, Delta."""
    FILE = "file"
    """A file sink, whose `_spark_metadata` may hold the uncommitted batch already."""
    FILE_UNWRITTEN = "file-unwritten"
    """A file sink whose `_spark_metadata` was checked to have no file of the uncommitted batch."""


class ConsumerType(StrEnum):
    """The source option kinesis.consumerType of awslabs' connector: how records are read."""

    GET_RECORDS = "GetRecords"
    SUBSCRIBE_TO_SHARD = "SubscribeToShard"
    """Enhanced fan-out."""


class App(Struct, frozen=True):
    """One candidate: a release of the connector and the query's options.

    Attributes:
        time: Unix seconds for AT_TIMESTAMP.
        named: Start of each shard in a startingPosition as JSON; the others begin at LATEST.
        consumer_type: How it reads, `None` where the operator did not say and nothing hangs on it.
        type_is_told: Whether the operator said how it reads.
        fails: failOnDataLoss.
        by_default: Whether `fails` is the connector's default.
        limit: maxFetchRecordsPerShard where the operator gave it.
        allow: Accepted hazards: "late" (rows behind the watermark are dropped), "recount" (state
            counts re-read rows twice).
        parents_first: Whether each generation of shards gets a batch of its own.
        batch: The last batch that the sink has seen, for a checkpoint that is lost.
    """

    traits: Traits
    initial: Start
    time: float | None = None
    fails: bool = False
    sink: Sink = Sink.OTHER
    limit: int | None = None
    allow: frozenset[str] = frozenset()
    parents_first: bool = False
    batch: int | None = None
    named: Mapping[ShardId, Position] | None = None
    by_default: bool = False
    consumer_type: ConsumerType | None = None
    type_is_told: bool = False

    @property
    def never_passes_time(self) -> bool:
        """Whether a start by time that met no record is asked for again for ever."""
        efo = self.consumer_type is ConsumerType.SUBSCRIBE_TO_SHARD
        return efo and self.traits.never_passes_time

    def options(self) -> Mapping[str, str]:
        """The options that distinguish this candidate, as a locator spells them."""
        read = {} if self.consumer_type is None else {"consumerType": str(self.consumer_type)}
        return {
            "release": self.traits.release,
            "startingPosition": str(self.initial) if self.named is None else "JSON",
            "failOnDataLoss": "true" if self.fails else "false",
            "sink": str(self.sink),
            **read,
        }
