"""Offsets and log entries of awslabs' `aws-kinesis`.

KinesisV2SourceOffset.scala and ShardInfo (KinesisModel.scala), 1.4.2 to 2.1. In an offset all
values are strings and all four members are required; in its log (HDFSMetadataCommitter, and the
metadataValue of DynamodbMetadataCommitter) subSequenceNumber is a number and isLast true or false.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reshardctl.consumers.spark.lines import connectors
from reshardctl.consumers.spark.lines.connectors import Digits, kind, load, members, offset
from reshardctl.consumers.spark.positions import Position, SourceOffset
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model import ShardId

NAME = "awslabs"
OWN = frozenset({"subSequenceNumber", "isLast"})
MEMBERS = OWN | {"iteratorType", "iteratorPosition"}
_COMMON = frozenset({"shardId", "iteratorType", "iteratorPosition"})


def read(value: Mapping[str, Any]) -> SourceOffset:
    """Read an offset of this shape."""
    return connectors.read(NAME, value, MEMBERS, _position)


def line(
    stream: str, batch_id: int, positions: Mapping[ShardId, Position], scala: str
) -> str:
    """The text that the connector itself would write."""
    shards = {
        shard: members(position)
        | {"subSequenceNumber": str(position.sub), "isLast": "true" if position.last else "false"}
        for shard, position in positions.items()
    }
    return offset(stream, batch_id, shards, scala)


def entry(text: str) -> tuple[ShardId, Position]:
    """Read a file of its log; raises Malformed if the connector cannot."""
    value = load(text)
    if not isinstance(value, dict):
        raise Malformed(f"not an object but {kind(value)}")
    known = {name: value[name] for name in _COMMON if name in value}
    members = connectors.strings(known, _COMMON)
    sub, last = value.get("subSequenceNumber"), value.get("isLast")
    if not isinstance(sub, Digits) or not connectors.LONG.match(sub):
        raise Malformed(f"subSequenceNumber is {_absent(sub)}, and the connector wants a number")
    if not isinstance(last, bool):
        raise Malformed(f"isLast is {_absent(last)}, and the connector wants true or false")
    iterator = members["iteratorType"], members["iteratorPosition"]
    return ShardId(members["shardId"]), connectors.position(*iterator, int(sub), last)


def _position(members: Mapping[str, str]) -> Position:
    sub, last = members["subSequenceNumber"], members["isLast"].lower()
    if not connectors.LONG.match(sub):
        raise Malformed(f"subSequenceNumber {sub[:40]!r} is no number")
    if last not in ("true", "false"):
        raise Malformed(f"isLast {members['isLast'][:40]!r} is neither true nor false")
    return connectors.position(
        members["iteratorType"], members["iteratorPosition"], int(sub), last == "true"
    )


def _absent(value: object) -> str:
    return "missing" if value is None else kind(value)
