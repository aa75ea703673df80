"""Records of a page as one Arrow batch."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from reshardctl.kinesis.aggregated import MAGIC
from reshardctl.kinesis.fast.columns import ARRIVED, DATA, KEY, NUMBER, Columns, Row
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
    records: Sequence[Row], shard: str, stream: str, *, unpack: bool
) -> pa.RecordBatch:
    """The rows of some records, as the wire has them, in their order; none are skipped."""
    columns = records if isinstance(records, Columns) else _columns(records)
    data = list(map(a2b_base64, columns.data))
    bodies = pa.array(data, pa.binary())
    keys: Sequence[bytes] = columns.keys
    numbers, arrived = _texts(columns.numbers), _moments(columns.arrived)
    subs = pa.repeat(pa.scalar(0, pa.int64()), len(data))
    packed = unpack and pc.any(pc.starts_with(bodies, MAGIC)).as_py()
    rows = spread(data, keys) if packed else None
    if rows is not None:
        bodies = pa.array(rows.data, pa.binary())
        keys, subs = rows.keys, pa.array(rows.subs, pa.int64())
        of = pa.array(rows.of, pa.int64())
        numbers, arrived = numbers.take(of), arrived.take(of)
    arrays = [
        bodies, _texts(keys), numbers, subs,
        pa.repeat(shard, len(bodies)), pa.repeat(stream, len(bodies)), arrived,
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW)


def _columns(records: Sequence[Row]) -> Columns:
    """Of records that came as dictionaries."""
    numbers, data, keys = (
        [str(record[name]).encode("utf-8", "replace") for record in records]
        for name in (NUMBER, DATA, KEY)
    )
    arrived = [record.get(ARRIVED) for record in records]
    spelled = [b"" if one is None else repr(one).encode() for one in arrived]
    return Columns(numbers, spelled, data, keys)


def _texts(values: Sequence[bytes]) -> pa.Array:
    return pa.array(values, pa.binary()).cast(pa.string())


def _moments(seconds: Sequence[bytes]) -> pa.Array:
    """Unix seconds as timestamps; null for an empty text. The service tells milliseconds."""
    texts = _texts(seconds)
    if b"" in seconds:
        texts = pc.if_else(pc.equal(texts, ""), None, texts)
    milliseconds = pc.round(pc.multiply(texts.cast(pa.float64()), 1000.0))
    moments = milliseconds.cast(pa.int64()).cast(pa.timestamp("ms", "UTC"))
    return moments.cast(pa.timestamp("us", "UTC"))
