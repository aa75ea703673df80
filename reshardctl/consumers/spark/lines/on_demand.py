"""Positions of a connector's offset that are read from its text when they are asked for.

A checkpoint of ten thousand shards retains a million positions, of which a start needs those of the
newest batches, and of older ones those of shards that later batches do not name.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping

from reshardctl.consumers.spark.positions import Position
from reshardctl.model import ShardId
from reshardctl.model.files import AlikeText

LONGEST = 256
"""Characters of the longest `"shardId-…":{…}` that a connector writes, and some more."""
MANY = 1000
"""Positions asked for one by one, after which the text is kept whole: that is ten times faster."""


def same_shards(first: object, second: object) -> bool:
    """Whether two offsets are known, without a look at each, to name the same shards."""
    if not (isinstance(first, OnDemand) and isinstance(second, OnDemand)):
        return False
    return first._order is second._order


class OnDemand(Mapping[ShardId, Position]):
    """The positions of one offset, in its order; those that were asked for stay read."""

    __slots__ = ("_member", "_offset", "_order", "_read", "_starts", "_text", "_there")

    def __init__(
        self, text: str | AlikeText, offset: int, starts: array[int], order: Mapping[ShardId, int],
        member: re.Pattern[str], read: Callable[[re.Match[str]], Position],
    ) -> None:
        """Reads no position yet.

        text: has the offset, from `offset` on. order: the shards that it names, none twice, each
        with its place among them. starts: where the `"shardId-…":{…}` of each place starts in the
        offset. member: matches one of these. read: makes a position of such a match.
        """
        self._text, self._offset, self._starts = text, offset, starts
        self._order, self._member, self._read = order, member, read
        self._there: dict[ShardId, Position] = {}

    def __getitem__(self, shard: ShardId) -> Position:
        """The position of a shard; KeyError for one that is not named."""
        if (position := self._there.get(shard)) is not None:
            return position
        if len(self._there) == MANY:
            self._text = str(self._text)
        place = self._order[shard]
        start, *later = self._starts[place : place + 2]
        end = later[0] if later else start + LONGEST
        member = self._text[self._offset + start : self._offset + end]
        return self._there.setdefault(shard, self._position(member, 0))

    def _position(self, text: str, start: int) -> Position:
        match = self._member.match(text, start)
        assert match is not None
        return self._read(match)

    def items(self) -> ItemsView[ShardId, Position]:
        """All positions, by shard."""
        if len(self._there) < len(self._order):
            text = str(self._text)
            positions = (self._position(text, self._offset + start) for start in self._starts)
            self._there = dict(zip(self._order, positions, strict=True))
        return self._there.items()

    def keys(self) -> KeysView[ShardId]:
        """The shards that are named; no position is read."""
        return self._order.keys()

    def __contains__(self, shard: object) -> bool:
        return shard in self._order

    def __iter__(self) -> Iterator[ShardId]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)
