"""Offsets of Databricks' `kinesis` source: read, never written.

Shape as in the page "Kinesis-to-Delta Lake StreamingQueryListener event" of its documentation: a
list with an object for every shard. That its offset files hold what its progress shows is Spark's
rule for every source; no file of it was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reshardctl.consumers.spark.lines.connectors import kind
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    TRIM_HORIZON,
    Flaw,
    Position,
    SourceOffset,
)
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model import ShardId, index_of, is_number

NAME = "databricks"


def recognised(value: object) -> bool:
    """Whether it is an offset of this shape, readable or not."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, dict) and isinstance(entry.get("shard"), dict) for entry in value)
    )


def read(value: Sequence[Any]) -> SourceOffset:
    """Read an offset of this shape: where a batch ended."""
    positions: dict[ShardId, Position] = {}
    flaws: list[Flaw] = []
    streams = set()
    for index, entry in enumerate(value):
        name = entry["shard"].get("shardId")
        shard = ShardId(name) if isinstance(name, str) else None
        streams.add(entry["shard"].get("stream"))
        try:
            if shard is None or index_of(shard) is None:
                raise Malformed(f"shardId is {kind(name)}, not a shard's id")
            if shard in positions:
                raise Malformed("it is given twice")
            positions[shard] = _position(entry.get("lastSeqNum"))
        except Malformed as error:
            why = str(error) if shard else f"entry {index}: {error}"
            flaws.append(Flaw(why, str(entry)[:200], shard))
    names = sorted(entry for entry in streams if isinstance(entry, str))
    if len(names) != 1 or len(streams) != 1:
        flaws.append(Flaw(f"it names {len(streams)} streams", ", ".join(names)[:200]))
    return SourceOffset(NAME, names[0] if names else "", None, positions, tuple(flaws))


def _position(number: object) -> Position:
    if number is None or number == "":
        return Position(TRIM_HORIZON)
    if not isinstance(number, str) or not is_number(number):
        raise Malformed(f"lastSeqNum {str(number)[:60]!r} is no sequence number")
    return Position(AFTER_SEQUENCE_NUMBER, number)
