"""What a streaming query is started with; no checkpoint holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.releases import Traits
from reshardctl.model import ShardId

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


@dataclass(frozen=True, slots=True)
class App:
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
