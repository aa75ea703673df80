"""What a streaming query is started with, and no checkpoint holds."""

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
    """The source option startingPosition: where a shard begins that the checkpoint names not."""

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
    """A file sink whose `_spark_metadata` has no file of the uncommitted batch: looked up."""


@dataclass(frozen=True, slots=True)
class App:
    """One candidate: what the query may be. `time`: Unix seconds for AT_TIMESTAMP. named: where
    startingPosition as JSON lets shards begin; the connectors begin the others at LATEST.

    fails: failOnDataLoss; by_default: whether nobody said so. limit: maxFetchRecordsPerShard where
    the operator gave it, else `None`.
    allow: hazards that the operator takes: "late" (rows behind the watermark are dropped),
    "recount" (state counts re-read rows twice). parents_first: a batch for each generation.
    batch: the last that the sink has seen, for a checkpoint that is gone.
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

    def options(self) -> Mapping[str, str]:
        """The options that tell this candidate from others, as a locator spells them."""
        return {
            "release": self.traits.release,
            "startingPosition": str(self.initial) if self.named is None else "JSON",
            "failOnDataLoss": "true" if self.fails else "false",
            "sink": str(self.sink),
        }
