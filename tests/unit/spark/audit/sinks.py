"""Small sinks, their stream and what is wrong with them, laid out by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reshardctl.lineage import Lineage
from tests.support.case_stream import number as spelled
from tests.unit.lineage.histories import CREATED, STREAM, History, fresh

Row = dict[str, Any]
SCHEMA = (
    "sequence_number STRING, sub_sequence_number BIGINT, shard_id STRING, partition_key STRING,"
    " stream STRING, approximate_arrival_timestamp TIMESTAMP, batch BIGINT"
)


def split_once() -> Lineage:
    """Two roots; the first is split a second after the stream is made. Four shards, three open."""
    history = fresh(2)
    history.split(0)
    return lineage(history)


def lineage(history: History) -> Lineage:
    return Lineage(STREAM, history.shards())


def numbered(shard: int, index: int, opened: int = CREATED, after: float = 0) -> str:
    """The 56 digits of a shard's record, by the layout that 77 public numbers share."""
    return spelled(opened, index, opened + int(after), shard)


def row(shard: int, index: int, opened: int = CREATED, **other: Any) -> Row:
    """A row of a sink: record `index` of a shard, a second after the one before."""
    made: Row = {
        "sequence_number": numbered(shard, index, opened, index),
        "sub_sequence_number": 0,
        "shard_id": f"shardId-{shard:012d}",
        "partition_key": f"k{shard}",
        "stream": "orders",
        "approximate_arrival_timestamp": datetime.fromtimestamp(opened + index + 1, UTC),
        "batch": index,
    }
    return {**made, **other}


def clean() -> list[Row]:
    """Five records of shard 1, three of 2, one of 3."""
    later = CREATED + 1
    return [
        *(row(1, n) for n in range(1, 6)),
        *(row(2, n, later) for n in range(1, 4)),
        row(3, 1, later),
    ]


def frame(spark: Any, rows: list[Row]) -> Any:
    names = [part.split()[0] for part in SCHEMA.split(", ")]
    return spark.createDataFrame([tuple(one[name] for name in names) for one in rows], SCHEMA)


def split_late() -> tuple[Lineage, int]:
    """The same, split after a minute; the second in which the children begin."""
    history = fresh(2)
    history.now += 60
    history.split(0)
    return lineage(history), CREATED + 61
