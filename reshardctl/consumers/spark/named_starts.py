"""startingPosition as JSON: where each named shard begins.

The connectors take an offset line of theirs (InitialKinesisPosition.fromCheckpointJson of Qubole
1.2.0 and of awslabs v1.4.2 to 0f4c005); shards that it does not name begin at the time of the
driver's start. kinesis-lineage takes a position for each shard (docs/source.md).
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

_JSON = "startingPosition as JSON"
FORMS = (
    "an offset line of the connector, {\"metadata\":{…},\"shardId-…\":{\"iteratorType\":…}}, or "
    "for kinesis-lineage {\"shardId-…\": \"TRIM_HORIZON\", \"shardId-…\": "
    "{\"AFTER_SEQUENCE_NUMBER\": \"49…\"}}"
)


def named_starts(text: str) -> dict[ShardId, Position]:
    """The start of each named shard; raises UsageError for a text that neither takes."""
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
    offset = shapes.read(text)
    if offset is None or offset.broken or not offset.positions:
        raise _wrong(offset.broken if offset is not None and offset.broken else "it names no shard")
    return dict(offset.positions)


def _own(value: Any) -> dict[ShardId, Position]:
    if not isinstance(value, dict) or not value:
        raise _wrong("it names no shard")
    return {ShardId(name): _start(name, start) for name, start in value.items()}


def _start(name: str, given: Any) -> Position:
    if index_of(name) is None:
        raise _wrong(f"{name!r} is no shard id")
    kind, value = given, ""
    if isinstance(given, Mapping) and len(given) == 1:
        ((kind, value),) = given.items()
        value = str(value)
    if isinstance(kind, str) and not value and is_number(kind):
        kind, value = AFTER_SEQUENCE_NUMBER, str(kind)
    if not isinstance(kind, str) or kind.upper() not in KINDS:
        raise _wrong(f"{name}: {str(given)[:60]!r} is no position")
    kind = kind.upper()
    if kind == AT_TIMESTAMP:
        return Position(kind, str(round(_moment(value) * 1000)))
    if kind in NUMBERED and not is_number(value):
        raise _wrong(f"{name}: {value[:60]!r} is no sequence number")
    return Position(kind, value)


def _moment(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return parse_instant(text, _JSON)
    if not 0 <= seconds < 1e10:
        raise _wrong(f"{text!r} is no time in Unix seconds")
    return seconds


def _wrong(why: str) -> UsageError:
    return UsageError(f"{_JSON}: {why}", f"give {FORMS}")
