"""Offsets and log entries of Qubole's `kinesis` and of its forks.

KinesisSourceOffset.scala, ShardInfo (KinesisSourceRDD.scala) and HDFSMetadataCommitter.scala of
1.2.0_spark-3.0; roncemer's fork 1.2.3_spark-3.2 has the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reshardctl.consumers.spark.lines import connectors
from reshardctl.consumers.spark.lines.connectors import kind, load, members, offset
from reshardctl.consumers.spark.positions import Position, SourceOffset
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model import ShardId

NAME = "qubole"
MEMBERS = frozenset({"iteratorType", "iteratorPosition"})
_ENTRY = MEMBERS | {"shardId"}


def read(value: Mapping[str, Any]) -> SourceOffset:
    """Read an offset of this shape."""
    return connectors.read(NAME, value, MEMBERS, _position)


def line(
    stream: str, batch_id: int, positions: Mapping[ShardId, Position], scala: str
) -> str:
    """The text that the connector itself would write."""
    shards = {shard: members(position) for shard, position in positions.items()}
    return offset(stream, batch_id, shards, scala)


def entry(text: str) -> tuple[ShardId, Position]:
    """Read a file of its log; raises Malformed if the connector cannot."""
    value = load(text)
    if not isinstance(value, dict):
        raise Malformed(f"not an object but {kind(value)}")
    known = {name: value[name] for name in _ENTRY if name in value}
    members = connectors.strings(known, _ENTRY)
    return ShardId(members["shardId"]), _position(members)


def _position(members: Mapping[str, str]) -> Position:
    return connectors.position(members["iteratorType"], members["iteratorPosition"])
