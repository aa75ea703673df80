"""Records of a page as one Arrow batch."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from reshardctl.kinesis.aggregated import MAGIC
from reshardctl.kinesis.fast import Record
from reshardctl.spark.source.kpl import spread

SCHEMA = (
    "data BINARY, partition_key STRING, sequence_number STRING, sub_sequence_number BIGINT, "
    "shard_id STRING, stream STRING, approximate_arrival_timestamp TIMESTAMP"
)
"""The columns, as Spark's DDL. A record that is no KPL aggregate has sub_sequence_number 0."""
ARROW = pa.schema([
    ("data", pa.binary()),
    ("partition_key", pa.string()),
    ("sequence_number", pa.string()),
    ("sub_sequence_number", pa.int64()),
    ("shard_id", pa.string()),
    ("stream", pa.string()),
    ("approximate_arrival_timestamp", pa.timestamp("us", "UTC")),
])


def batch_of(
    records: Sequence[Record], shard: str, stream: str, *, unpack: bool
) -> pa.RecordBatch:
    """The rows of records in their order; none are skipped."""
    data = [record.data for record in records]
    keys = [record.partition_key for record in records]
    bodies = pa.array(data, pa.binary())
    numbers = pa.array([record.sequence_number for record in records], pa.string())
    arrived = _moments(records)
    subs = pa.repeat(pa.scalar(0, pa.int64()), len(data))
    packed = unpack and pc.any(pc.starts_with(bodies, MAGIC)).as_py()
    rows = spread(data, keys) if packed else None
    if rows is not None:
        bodies = pa.array(rows.data, pa.binary())
        keys, subs = rows.keys, pa.array(rows.subs, pa.int64())
        of = pa.array(rows.of, pa.int64())
        numbers, arrived = numbers.take(of), arrived.take(of)
    arrays = [
        bodies, pa.array(keys, pa.string()), numbers, subs,
        pa.repeat(shard, len(bodies)), pa.repeat(stream, len(bodies)), arrived,
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW)


def _moments(records: Sequence[Record]) -> pa.Array:
    """When the records arrived; null if that is missing. The service has milliseconds."""
    seconds = [record.approximate_arrival_timestamp for record in records]
    milliseconds = pc.round(pc.multiply(pa.array(seconds, pa.float64()), 1000.0))
    moments = milliseconds.cast(pa.int64()).cast(pa.timestamp("ms", "UTC"))
    return moments.cast(pa.timestamp("us", "UTC"))
