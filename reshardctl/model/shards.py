"""Shards and their stream, as ListShards and DescribeStreamSummary give them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import NewType

ShardId = NewType("ShardId", str)

HASH_SPACE = 1 << 128
"""Number of hash keys; ranges are inclusive at both ends, from 0 to HASH_SPACE - 1."""

_NUMBER = re.compile(r"\d{1,12}\Z", re.ASCII)
_PLAIN = re.compile(r"shardId-\d{12}\Z", re.ASCII)
_INDEXED = re.compile(r"shardId-(\d{12,120})\Z", re.ASCII)


def shard_id(index: int) -> ShardId:
    """`shardId-` and twelve digits, AWS's form for every stream."""
    return ShardId(f"shardId-{index:012d}")


def shard_named(text: str) -> ShardId:
    """A shard by its number or its id, as an operator types it."""
    return shard_id(int(text)) if _NUMBER.match(text) else ShardId(text)


def index_of(shard: str) -> int | None:
    """The number in a shard id, or `None` if the id has another form."""
    match = _INDEXED.match(shard)
    return int(match[1]) if match else None


def in_birth_order(shards: Iterable[ShardId]) -> list[ShardId]:
    """The shards, parents before children: ids grow with creation."""
    ids = list(shards)
    if all(map(_PLAIN.match, ids)):
        return sorted(ids)  # with equally many digits, text is ordered as numbers are
    return sorted(ids, key=lambda s: (-1 if (i := index_of(s)) is None else i, s))


def short(shard: str) -> str:
    """The significant digits of a shard id, for people."""
    index = index_of(shard)
    return shard if index is None else str(index)


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard as listed. `start` and `end` are sequence numbers as AWS spells them."""

    id: ShardId
    parent: ShardId | None
    adjacent: ShardId | None
    hash_start: int
    hash_end: int
    start: str
    end: str | None

    @property
    def open(self) -> bool:
        """Whether the shard has no EndingSequenceNumber (ListShards API reference)."""
        return self.end is None

    @property
    def parents(self) -> tuple[ShardId, ...]:
        """The parents that the listing names, listed or not: none, one (split) or two (merge)."""
        return tuple(p for p in (self.parent, self.adjacent) if p is not None)


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream as DescribeStreamSummary gives it. `created`: Unix seconds. `retention`: seconds.

    as_of: Unix seconds of the look; no record is younger. `inf` if unknown.
    """

    arn: str
    name: str
    created: float
    retention: int
    status: str
    mode: str = "PROVISIONED"
    open_shards: int = 0
    as_of: float = field(default=inf, compare=False)

    @property
    def account(self) -> str:
        """The twelve-digit account, from the ARN."""
        return self.arn.split(":")[4]

    @property
    def region(self) -> str:
        """The region, from the ARN."""
        return self.arn.split(":")[3]
