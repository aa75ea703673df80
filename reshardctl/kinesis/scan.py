"""Pages of ListShards read by a pattern, in half the time that a JSON parser needs.

A listing may be a thousand pages of a thousand shards, all written alike. What a shard looks
like is learned from a page that was parsed as JSON; a page that looks otherwise, in any byte, is
parsed as JSON again. So nothing is assumed about the order of members or about blanks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reshardctl.lineage import Fields, RawShard

_MEMBERS = (
    "ShardId",
    "ParentShardId",
    "AdjacentParentShardId",
    "StartingHashKey",
    "EndingHashKey",
    "StartingSequenceNumber",
    "EndingSequenceNumber",
)
"""The columns of `Fields`, as ListShards names them."""
_OPTIONAL = frozenset({"ParentShardId", "AdjacentParentShardId", "EndingSequenceNumber"})
_NESTED = ("HashKeyRange", "SequenceNumberRange")
_AT_ONCE = 64 * 1024
_LESSONS = 8
"""How often a scanner learns: a few members are optional and may turn up late."""


class Scanner:
    """Reads page after page. Keeps what it learned."""

    def __init__(self) -> None:
        self._shape: _Shape | None = None
        self._lessons = 0

    def read(self, text: str) -> tuple[list[Fields], str] | None:
        """Columns and NextToken ("" on the last page); `None` if this page looks otherwise."""
        opening, closing = text.find("["), text.rfind("]")
        if self._shape is None or opening < 0 or "\\" in text:
            return None
        try:
            rest = json.loads(text[: opening + 1] + text[closing:])
        except ValueError:
            return None
        if not isinstance(rest, dict) or rest.pop("Shards", None) != []:
            return None
        token = rest.pop("NextToken", None) or ""
        if rest:
            return None
        fields = [*map(self._shape.columns, self._shape.parts(text, opening + 1, closing))]
        return (fields, token) if all(fields) else None

    def learn(self, text: str, page: Sequence[RawShard]) -> None:
        """Take the look of this page, which `text` was parsed into."""
        self._shape = None
        if page and self._lessons < _LESSONS:
            self._lessons += 1
            self._shape = _shape_of(text, page)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What one shard looks like. order: the member in each group of the pattern but the last;
    between: what stands between two shards, with their braces.
    """

    pattern: re.Pattern[str]
    order: tuple[str, ...]
    between: str

    def parts(self, text: str, start: int, end: int) -> Iterator[str]:
        """The inside of an array, cut between shards into pieces that fit a processor's cache."""
        while end - start > _AT_ONCE:
            found = text.find(self.between, start + _AT_ONCE, end)
            if found < 0:
                break
            cut = found + len(self.between) - 1
            yield text[start:cut]
            start = cut
        yield text[start:end]

    def columns(self, text: str) -> Fields:
        """The shards of a piece; nothing if a byte of it is none of theirs."""
        *columns, other = zip(*self.pattern.findall(text), strict=True) if text else ((),)
        if not columns or any(other):
            return ()
        found = dict(zip(self.order, columns, strict=True))
        nothing = ("",) * len(other)
        return tuple(found.get(member, nothing) for member in _MEMBERS)


def _shape_of(text: str, page: Sequence[RawShard]) -> _Shape | None:
    """The shape of the most complete shard; `None` if there is more in it than we know."""
    try:
        largest: RawShard = max(page, key=len)
        sample = dict(largest)
        for member in _NESTED:
            sample[member] = max((shard[member] for shard in page), key=len)
    except (KeyError, TypeError, ValueError):
        return None
    colon = ": " if '": ' in text[:1000] else ":"
    comma = ", " if '", "' in text[:1000] else ","
    order: list[str] = []
    shard = _pattern(sample, colon, comma, order)
    if not set(_MEMBERS) - _OPTIONAL <= set(order) <= set(_MEMBERS):
        return None
    pattern = re.compile(rf"{shard}(?:{comma}|\Z)|(.+)", re.DOTALL)
    return _Shape(pattern, tuple(order), f"}}{comma}{{")


def _pattern(sample: RawShard, colon: str, comma: str, order: list[str]) -> str:
    """A pattern of the object, a group a member; appends the members to `order`.

    Optional members bring their comma with them: behind until a required one came, then before.
    """
    pattern, anchored = "", False
    for member, value in sample.items():
        one = re.escape(f'"{member}"{colon}')
        if isinstance(value, dict):
            one += _pattern(value, colon, comma, order)
        else:
            one += '"([^"]*+)"'
            order.append(member)
        if member in _OPTIONAL:
            pattern += f"(?:{comma}{one})?+" if anchored else f"(?:{one}{comma})?+"
        else:
            pattern += f"{comma}{one}" if anchored else one
            anchored = True
    return rf"\{{{pattern}\}}"
