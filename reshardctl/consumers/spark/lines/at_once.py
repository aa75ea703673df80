"""Reads connectors' offsets in one pass if they are spelled exactly as the connectors write them.

Any other spelling is left to the slow reader, which says what is wrong with it. A checkpoint of ten
thousand shards retains a million positions, of which a start needs those of the newest batches, and
of older ones those of shards that later batches do not name: so a position is read from its text
when it is asked for.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.spark.positions import Position, SourceOffset
from reshardctl.model import ShardId
from reshardctl.model.files import AlikeText, Shape

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


_PLACE = (
    r'"iteratorType":"('
    r'(?:AFTER|AT)_SEQUENCE_NUMBER(?=","iteratorPosition":"\d)'
    r'|AT_TIMESTAMP(?=","iteratorPosition":"\d{1,19}")|TRIM_HORIZON|LATEST|SHARD_END)",'
    r'"iteratorPosition":"(\d{0,64})"'
)
_AGGREGATE = r'"subSequenceNumber":"(-?\d{1,18})","isLast":"(true|false)",'
_METADATA = r'"metadata":\{"(batchId|streamName)":"([^"\\]*)","(batchId|streamName)":"([^"\\]*)"\}'
_SHARD = r'"(shardId-\d{12})":\{'
_SHARDS = re.compile(_SHARD, re.ASCII)
_PREFIX, _DIGITS = '"shardId-', 12
_BATCH = re.compile(r"-?\d{1,18}\Z", re.ASCII)
_GROUP = re.compile(r"\((?!\?)")


class _Spelling:
    """How one connector spells a shard's position."""

    def __init__(self, position: str, read: Callable[[re.Match[str]], Position]) -> None:
        self.read = read
        self.shard = re.compile(rf"{_SHARD}{position}\}}", re.ASCII)
        # Without groups, and never trying a member twice: half of the time of a checkpoint's read.
        shard = _GROUP.sub("(?:", self.shard.pattern)
        self.whole = re.compile(rf"\{{(?:{shard},)*+{_METADATA}(?:,{shard})*+\}}", re.ASCII)


def _awslabs(match: re.Match[str]) -> Position:
    _, sub, last, kind, value = match.groups()
    return Position(kind, value, int(sub), last == "true")


def _qubole(match: re.Match[str]) -> Position:
    return Position(match[2], match[3])


_SPELLINGS = {
    "awslabs": _Spelling(_AGGREGATE + _PLACE, _awslabs), "qubole": _Spelling(_PLACE, _qubole),
}


class _Layout(Struct, frozen=True):
    """Where an offset that is so spelled has its members, counted from its own start.

    Attributes:
        head: Name and value of both members of the metadata.
        starts: Each shard's member.
        names: The digits of each shard's name; in the layout of a shape, among all of its digits.
    """

    connector: str
    head: tuple[slice, ...]
    starts: array[int]
    names: Sequence[slice]


def read(text: str | AlikeText, start: int = 0, end: int | None = None) -> SourceOffset | None:
    """A connector's offset with at least one shard; `None` for any other spelling.

    start, end: which part of the text it is. Its positions keep the text, and no copy of the part.
    """
    if isinstance(text, str):
        named = text[start:end]
        layout = _layout(named)
    else:
        layout, named = _layout_of_shape(text.shape, start, end), text.digits
    if layout is None:
        return None
    first, first_value, second, second_value = (
        text[start + part.start : start + part.stop] for part in layout.head
    )
    head = {first: first_value, second: second_value}
    if len(head) != 2 or not _BATCH.match(head["batchId"]):
        return None
    shards = _order(" ".join(map(named.__getitem__, layout.names)))
    if not shards or len(shards) != len(layout.starts):
        return None
    spelling = _SPELLINGS[layout.connector]
    positions = OnDemand(text, start, layout.starts, shards, spelling.shard, spelling.read)
    return SourceOffset(layout.connector, head["streamName"], int(head["batchId"]), positions)


@lru_cache(maxsize=4)
def _layout_of_shape(shape: Shape, start: int, end: int | None) -> _Layout | None:
    """The layout of every text of a shape: no spelling asks which digit it meets."""
    layout = _layout(shape.text[start:end])
    if layout is None:
        return None
    firsts = (shape.digits_before(start + name.start) for name in layout.names)
    return replace(layout, names=[slice(first, first + _DIGITS) for first in firsts])


def _layout(part: str) -> _Layout | None:
    """The layout of an offset, `None` for one of another spelling."""
    if not part.startswith('{"') or not part.endswith("}}"):
        return None
    connector = "awslabs" if '"isLast":"' in part else "qubole"
    if (whole := _SPELLINGS[connector].whole.fullmatch(part)) is None:
        return None
    head = tuple(slice(*whole.span(group)) for group in range(1, 5))
    starts = _starts(part)
    first = len(_PREFIX)
    names = [slice(start + first, start + first + _DIGITS) for start in starts]
    return _Layout(connector, head, starts, names)


def _starts(part: str) -> array[int]:
    """Where each shard's member starts, in an offset so spelled.

    What looks like a shard's name is one, because no member has a quotation mark inside a value,
    and no value but a stream's name begins like one.
    """
    if f":{_PREFIX}" in part:
        return array("I", [match.start() for match in _SHARDS.finditer(part)])
    # Several times faster than the expression: the lengths between the names, added up.
    before, *pieces = part.split(_PREFIX)
    steps = map(len(_PREFIX).__add__, map(len, pieces[:-1]))
    return array("I", list(accumulate(steps, initial=len(before))) if pieces else [])


@lru_cache(maxsize=8)
def _order(names: str) -> dict[ShardId, int]:
    """Each shard's place. Batch after batch names the same ones, so these share one dict."""
    shards = [f"shardId-{digits}" for digits in names.split()]
    return {_once(shard, ShardId(shard)): place for place, shard in enumerate(shards)}


_ids: dict[str, ShardId] = {}
_once = _ids.setdefault
"""One object for each shard id, though many orders name it."""
