"""Reads connectors' offsets in one pass if they are spelled exactly as the connectors write them.

A checkpoint of ten thousand shards retains a million positions. Any other spelling is left to the
slow reader, which says what is wrong with it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter

from reshardctl.consumers.spark.lines.offset import SourceOffset
from reshardctl.consumers.spark.lines.on_demand import OnDemand
from reshardctl.consumers.spark.positions import Position
from reshardctl.model import ShardId

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


def read(text: str, start: int = 0, end: int | None = None) -> SourceOffset | None:
    """A connector's offset with at least one shard; `None` for any other spelling.

    start, end: which part of the text it is. Its positions keep the text, and no copy of the part.
    """
    part = text[start:end]
    if not part.startswith('{"') or not part.endswith("}}"):
        return None
    connector = "awslabs" if '"isLast":"' in part else "qubole"
    spelling = _SPELLINGS[connector]
    if (whole := spelling.whole.fullmatch(part)) is None:
        return None
    first, first_value, second, second_value = whole.groups()
    head = {first: first_value, second: second_value}
    if len(head) != 2 or not _BATCH.match(head["batchId"]):
        return None
    names, starts = _members(part)
    shards = _order(" ".join(names))
    if not shards or len(shards) != len(starts):
        return None
    positions = OnDemand(text, start, starts, shards, spelling.shard, spelling.read)
    return SourceOffset(connector, head["streamName"], int(head["batchId"]), positions)


def _members(part: str) -> tuple[Sequence[str], array[int]]:
    """The digits of each shard's name, and where its member starts, in an offset so spelled.

    What looks like a shard's name is one, because no member has a quotation mark inside a value,
    and no value but a stream's name begins like one.
    """
    if f":{_PREFIX}" in part:
        matches = list(_SHARDS.finditer(part))
        starts = array("I", [match.start() for match in matches])
        return [match[1][-_DIGITS:] for match in matches], starts
    # Several times faster than the expression: the lengths between the names, added up.
    before, *pieces = part.split(_PREFIX)
    names = list(map(itemgetter(slice(_DIGITS)), pieces))
    steps = map(len(_PREFIX).__add__, map(len, pieces[:-1]))
    return names, array("I", list(accumulate(steps, initial=len(before))) if pieces else [])


@lru_cache(maxsize=8)
def _order(names: str) -> dict[ShardId, int]:
    """Each shard's place. Batch after batch names the same ones, so these share one dict."""
    shards = [f"shardId-{digits}" for digits in names.split()]
    return {_once(shard, ShardId(shard)): place for place, shard in enumerate(shards)}


_ids: dict[str, ShardId] = {}
_once = _ids.setdefault
"""One object for each shard id, though many orders name it."""
