"""startingPosition as JSON: where each shard begins that it names.

The connectors take an offset line of theirs (InitialKinesisPosition.fromCheckpointJson of Qubole
1.2.0 and of awslabs v1.4.2 to 0f4c005): what it does not name begins at the time of the driver's
start. kinesis-lineage takes a place a shard (docs/source.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reshardctl.consumers.spark.lines import shapes
from reshardctl.consumers.spark.lines.loading import load
from reshardctl.consumers.spark.lines.writing import METADATA
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    KINDS,
    NUMBERED,
    Position,
)
from reshardctl.errors import UsageError
from reshardctl.model import ShardId, decode, index_of, is_number
from reshardctl.model.times import parse_instant

FORMS = (
    "an offset line of the connector, {\"metadata\":{…},\"shardId-…\":{\"iteratorType\":…}}, or "
    "for kinesis-lineage {\"shardId-…\": \"TRIM_HORIZON\", \"shardId-…\": "
    "{\"AFTER_SEQUENCE_NUMBER\": \"49…\"}}"
)


def named_starts(text: str) -> dict[ShardId, Position]:
    """By shard. Raises UsageError for what neither takes."""
    try:
        value = load(text)
    except Malformed as error:
        raise _wrong(str(error)) from None
    starts = _of_connectors(text) if METADATA in value else _own(value)
    for shard, position in starts.items():
        decoded = decode(position.value) if position.kind in NUMBERED else None
        if decoded is not None and decoded.shard != index_of(shard):
            raise _wrong(f"{shard}: {position.value} is a number of shard {decoded.shard}")
    return starts


def _of_connectors(text: str) -> dict[ShardId, Position]:
    found = shapes.read(text)
    if found is None or found.broken or not found.positions:
        raise _wrong(found.broken if found is not None and found.broken else "it names no shard")
    return dict(found.positions)


def _own(value: Any) -> dict[ShardId, Position]:
    if not isinstance(value, dict) or not value:
        raise _wrong("it names no shard")
    return {ShardId(name): _start(name, one) for name, one in value.items()}


def _start(name: str, one: Any) -> Position:
    if index_of(name) is None:
        raise _wrong(f"{name!r} is no shard id")
    kind, value = one, ""
    if isinstance(one, Mapping) and len(one) == 1:
        ((kind, value),) = one.items()
        value = str(value)
    if isinstance(kind, str) and not value and is_number(kind):
        kind, value = AFTER_SEQUENCE_NUMBER, str(kind)
    if not isinstance(kind, str) or kind.upper() not in KINDS:
        raise _wrong(f"{name}: {str(one)[:60]!r} is no place")
    kind = kind.upper()
    if kind == AT_TIMESTAMP:
        return Position(kind, str(round(_moment(value) * 1000)))
    if kind in NUMBERED and not is_number(value):
        raise _wrong(f"{name}: {value[:60]!r} is no sequence number")
    return Position(kind, value)


def _moment(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return parse_instant(text)


def _wrong(why: str) -> UsageError:
    return UsageError(f"startingPosition as JSON: {why}", f"give {FORMS}")
