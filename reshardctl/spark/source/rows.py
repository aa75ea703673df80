"""Records of a page as one Arrow batch."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa

from reshardctl.spark.source.kpl import unpacked

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
    keys, numbers = list(map(_KEY, records)), list(map(_NUMBER, records))
    arrived = pa.array(map(_ARRIVED, records), pa.float64(), size=len(records))
    subs: pa.Array = pa.repeat(pa.scalar(0, pa.int64()), len(records))
    if unpack:
        data, keys, numbers, subs, arrived = unpacked(data, keys, numbers, subs, arrived)
    count = len(data)
    columns = [
        pa.array(data, pa.binary()),
        pa.array(keys, pa.string()),
        pa.array(numbers, pa.string()),
        subs,
        pa.repeat(shard, count),
        pa.repeat(stream, count),
        _moments(arrived),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ARROW)


def _moments(seconds: pa.Array) -> pa.Array:
    """Unix seconds as timestamps. The service tells milliseconds."""
    import pyarrow.compute as pc

    micros = pc.multiply(pc.round(pc.multiply(seconds, 1000.0)), 1000.0)
    return micros.cast(pa.int64()).cast(pa.timestamp("us", "UTC"))
