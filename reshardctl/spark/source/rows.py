"""Records of a page as one Arrow batch."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

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
_DATA, _KEY = itemgetter("Data"), itemgetter("PartitionKey")
_NUMBER, _ARRIVED = itemgetter("SequenceNumber"), itemgetter("ApproximateArrivalTimestamp")


def batch_of(
    records: Sequence[dict[str, Any]], shard: str, stream: str, *, unpack: bool
) -> pa.RecordBatch:
    """The rows of some records, as the wire has them, in their order; none are skipped."""
    data = list(map(a2b_base64, map(_DATA, records)))
    keys = list(map(_KEY, records))
    numbers = pa.array(list(map(_NUMBER, records)), pa.string())
    arrived = _moments(list(map(_ARRIVED, records)))
    subs = pa.repeat(pa.scalar(0, pa.int64()), len(records))
    rows = spread(data, keys) if unpack else None
    if rows is not None:
        data, keys, subs = rows.data, rows.keys, pa.array(rows.subs, pa.int64())
        of = pa.array(rows.of, pa.int64())
        numbers, arrived = numbers.take(of), arrived.take(of)
    columns = [
        pa.array(data, pa.binary()), pa.array(keys, pa.string()), numbers, subs,
        pa.repeat(shard, len(data)), pa.repeat(stream, len(data)), arrived,
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(columns, schema=ARROW)


def _moments(seconds: list[float | None]) -> pa.Array:
    """Unix seconds as timestamps. The service tells milliseconds."""
    milliseconds = pc.round(pc.multiply(pa.array(seconds, pa.float64()), 1000.0))
    moments = milliseconds.cast(pa.int64()).cast(pa.timestamp("ms", "UTC"))
    return moments.cast(pa.timestamp("us", "UTC"))
