"""What can be compared of two listings: places in the hash space, states, parents."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

SPACE = 2**128
PARTS = 24
"""Edges of uniform ranges of up to four, of six and of eight shards are multiples of this part."""

SLACK = 8
"""How many keys an edge may be off its place and still count as in it; kinesis-mock adds up
rounded widths."""

Raw = dict[str, Any]
"""A shard, or an answer, as boto3 gives it."""


def shard_id(number: int) -> str:
    return f"shardId-{number:012d}"


def numbers(shards: list[Raw]) -> list[int]:
    return [number_of(shard["ShardId"]) for shard in shards]


def number_of(shard: str) -> int:
    return int(shard.removeprefix("shardId-"))


def edge(place: Fraction) -> str:
    return str(int(place * SPACE))


def edges(shard: Raw) -> tuple[int, int]:
    """First and last hash key, as they are."""
    keys = shard["HashKeyRange"]
    return int(keys["StartingHashKey"]), int(keys["EndingHashKey"])


def span(shard: Raw) -> str:
    """The range in fractions of the space; see SLACK."""
    low, high = edges(shard)
    return f"{_place(low)}-{_place(high + 1)}"


def _place(key: int) -> str:
    part = round(Fraction(key * PARTS, SPACE))
    exact = part * SPACE // PARTS
    return str(Fraction(part, PARTS) if abs(key - exact) <= SLACK else key)


def lineage(shards: list[Raw]) -> dict[int, tuple[str, str, tuple[int, ...]]]:
    """Number → range, open or closed, parents as (ParentShardId, AdjacentParentShardId)."""
    return {
        number_of(shard["ShardId"]): (span(shard), _state(shard), parents(shard))
        for shard in shards
    }


def parents(shard: Raw) -> tuple[int, ...]:
    named = (shard.get("ParentShardId"), shard.get("AdjacentParentShardId"))
    return tuple(number_of(one) for one in named if one is not None)


def is_open(shard: Raw) -> bool:
    return shard["SequenceNumberRange"].get("EndingSequenceNumber") is None


def _state(shard: Raw) -> str:
    return "open" if is_open(shard) else "closed"
