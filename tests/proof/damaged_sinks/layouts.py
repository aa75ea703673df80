"""How a sink's columns may be called and typed. `roles` says which column is what, in the words of
the source's own columns; `row_id` is an ordinary column of the sink, by which a test knows a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.proof.damaged_sinks.rows import Row

Cells = dict[str, Any]
_FIRST_WRITE = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Layout:
    """roles: number, sub, shard, stream, key, arrival, order → the column; absent: there is none.

    types: each column's type, in Spark's words.
    """

    name: str
    cells: Callable[[Row], Cells]
    roles: Mapping[str, str]
    types: Mapping[str, str]

    def has(self, role: str) -> bool:
        return role in self.roles


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _ours(row: Row) -> Cells:
    return {
        "data": row.data, "partition_key": row.key, "sequence_number": row.number,
        "sub_sequence_number": row.sub, "shard_id": row.shard, "stream": row.stream,
        "approximate_arrival_timestamp": _moment(row.arrival), "batch_id": row.batch,
        "row_id": row.ident,
    }  # fmt: skip


def _connector(row: Row) -> Cells:
    return {
        "data": row.data, "streamName": row.stream, "partitionKey": row.key,
        "sequenceNumber": row.number, "approximateArrivalTimestamp": _moment(row.arrival),
        "written_at": _FIRST_WRITE + timedelta(minutes=row.batch),
        "row_id": row.ident,
    }  # fmt: skip


def _bare(row: Row) -> Cells:
    return {"seq": row.number, "payload": row.data, "row_id": row.ident}


def _text(row: Row) -> Cells:
    """Everything as text, as a CSV export has it, under names of the sink's own."""
    return {
        "Key": row.key, "Number": row.number, "Part": str(row.sub), "Shard": row.shard,
        "Came At": _moment(row.arrival).isoformat(), "Load": f"{row.batch:06d}",
        "row_id": str(row.ident),
    }  # fmt: skip


OURS = Layout(
    "ours", _ours,
    {
        "number": "sequence_number", "sub": "sub_sequence_number", "shard": "shard_id",
        "stream": "stream", "key": "partition_key", "arrival": "approximate_arrival_timestamp",
        "order": "batch_id",
    },
    {
        "data": "binary", "partition_key": "string", "sequence_number": "string",
        "sub_sequence_number": "bigint", "shard_id": "string", "stream": "string",
        "approximate_arrival_timestamp": "timestamp", "batch_id": "bigint", "row_id": "bigint",
    },
)  # fmt: skip
CONNECTOR = Layout(
    "connector", _connector,
    {
        "number": "sequenceNumber", "stream": "streamName", "key": "partitionKey",
        "arrival": "approximateArrivalTimestamp", "order": "written_at",
    },
    {
        "data": "binary", "streamName": "string", "partitionKey": "string",
        "sequenceNumber": "string", "approximateArrivalTimestamp": "timestamp",
        "written_at": "timestamp", "row_id": "bigint",
    },
)  # fmt: skip
"""The columns of Spark's two Kinesis connectors (README of awslabs/spark-sql-kinesis-connector and
of qubole/kinesis-sql: both name these five), and a time of writing that the query has added."""
BARE = Layout(
    "bare", _bare, {"number": "seq"}, {"seq": "string", "payload": "binary", "row_id": "bigint"}
)
TEXT = Layout(
    "text", _text,
    {
        "number": "Number", "sub": "Part", "shard": "Shard", "key": "Key", "arrival": "Came At",
        "order": "Load",
    },
    dict.fromkeys(("Key", "Number", "Part", "Shard", "Came At", "Load", "row_id"), "string"),
)  # fmt: skip
LAYOUTS = (OURS, CONNECTOR, BARE, TEXT)
