"""Offsets of our own Python source `kinesis-lineage`: where a batch ended.

PySpark stores `json.dumps` of the source's dictionary, its spaces and order kept (runs on PySpark
4.0 to 4.3, November 2026): `{"shards": {"<shard>": {"seq": "<number>", "end": false}}}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reshardctl.consumers.spark.lines.loading import Digits, kind
from reshardctl.consumers.spark.lines.offset import Flaw, SourceOffset
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    SHARD_END,
    TRIM_HORIZON,
    Position,
)
from reshardctl.model import ShardId, index_of, is_number

NAME = "lineage"


def recognised(value: object) -> bool:
    """Whether it is an offset of this shape, readable or not."""
    if not isinstance(value, dict) or not isinstance(value.get("shards"), dict):
        return False
    return all(name.startswith("shardId-") for name in value["shards"])


def read(value: Mapping[str, Any]) -> SourceOffset:
    """An offset of this shape."""
    positions: dict[ShardId, Position] = {}
    flaws: list[Flaw] = []
    for name, one in value["shards"].items():
        shard = ShardId(name)
        try:
            positions[shard] = _place(shard, one)
        except Malformed as error:
            flaws.append(Flaw(str(error), str(one)[:200], shard))
    stream = value.get("stream")
    return SourceOffset(
        NAME, stream if isinstance(stream, str) else "", None, positions, tuple(flaws)
    )


def line(before: str, positions: Mapping[ShardId, Position]) -> str:
    """The offset `before` with these positions; those of other shards stay, and their order.

    Raises Malformed for a text that json.dumps would not have written.
    """
    value = json.loads(before)
    if json.dumps(value) != before:
        raise Malformed("it is not spelled as PySpark writes it")
    for shard in sorted(positions):
        place = value["shards"].setdefault(shard, {})
        place["seq"] = positions[shard].value
        place["end"] = positions[shard].kind == SHARD_END
    return json.dumps(value)


def _place(shard: ShardId, one: object) -> Position:
    if index_of(shard) is None:
        raise Malformed("this is no shard id")
    if not isinstance(one, dict):
        raise Malformed(f"not an object but {kind(one)}")
    number, ended = one.get("seq"), one.get("end")
    if not isinstance(ended, bool):
        raise Malformed(f"end is {kind(ended)}, neither true nor false")
    if not isinstance(number, str) or isinstance(number, Digits):
        raise Malformed(f"seq is {kind(number)}, not a string")
    if number and not is_number(number):
        raise Malformed(f"{number[:60]!r} is no sequence number")
    if ended:
        return Position(SHARD_END, number)
    return Position(AFTER_SEQUENCE_NUMBER, number) if number else Position(TRIM_HORIZON)
