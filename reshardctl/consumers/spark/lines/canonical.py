"""Reads connectors' offsets in one pass if they are spelled exactly as the connectors write them.

A checkpoint of ten thousand shards retains a million positions. Any other spelling is left to the
slow reader, which says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from reshardctl.consumers.spark.lines.offset import SourceOffset
from reshardctl.consumers.spark.lines.on_demand import OnDemand
from reshardctl.consumers.spark.positions import Position
from reshardctl.model import ShardId

_PLACE = (
    r'"iteratorType":"((?:AFTER|AT)_SEQUENCE_NUMBER(?=","iteratorPosition":"\d)'
    r'|AT_TIMESTAMP(?=","iteratorPosition":"\d{1,19}")|TRIM_HORIZON|LATEST|SHARD_END)",'
    r'"iteratorPosition":"(\d{0,64})"'
)
_AGGREGATE = r'"subSequenceNumber":"(-?\d{1,18})","isLast":"(true|false)",'
_METADATA = r'"metadata":\{"(batchId|streamName)":"([^"\\]*)","(batchId|streamName)":"([^"\\]*)"\}'
_SHARD = r'"(shardId-\d{12})"'
_SHARDS = re.compile(rf"{_SHARD}:\{{", re.ASCII)
_HEAD = re.compile(_METADATA, re.ASCII)
_BATCH = re.compile(r"-?\d{1,18}\Z", re.ASCII)


class _Spelling:
    """How one connector spells a shard's position."""

    def __init__(self, position: str, read: Callable[[re.Match[str]], Position]) -> None:
        self.read = read
        self.shard = re.compile(rf"{_SHARD}:\{{{position}\}}", re.ASCII)
        self.member = re.compile(
            rf"(?:\A\{{|,)(?:{_SHARD}:\{{{position}\}}|{_METADATA})", re.ASCII
        )


def _awslabs(match: re.Match[str]) -> Position:
    _, sub, last, kind, value = match.groups()
    return Position(kind, value, int(sub), last == "true")


def _qubole(match: re.Match[str]) -> Position:
    return Position(match[2], match[3])


_SPELLINGS = {
    "awslabs": _Spelling(_AGGREGATE + _PLACE, _awslabs), "qubole": _Spelling(_PLACE, _qubole),
}


def read(text: str) -> SourceOffset | None:
    """A connector's offset with at least one shard; `None` for any other spelling."""
    if not text.startswith('{"') or not text.endswith("}}"):
        return None
    connector = "awslabs" if '"isLast":"' in text else "qubole"
    spelling = _SPELLINGS[connector]
    # Nothing but members and the last brace: then what looks like a shard's name is one, because
    # no member has a quotation mark inside a value.
    rest, count = spelling.member.subn("", text)
    names, heads = _SHARDS.findall(text), _HEAD.findall(text)
    shards = _order(tuple(map(_once, names, map(ShardId, names))))
    if rest != "}" or not shards or len(heads) != 1 or count != len(shards) + 1:
        return None
    first, first_value, second, second_value = heads[0]
    head = {first: first_value, second: second_value}
    if len(head) != 2 or not _BATCH.match(head["batchId"]):
        return None
    positions = OnDemand(text, shards, spelling.shard, spelling.read)
    return SourceOffset(connector, head["streamName"], int(head["batchId"]), positions)


_ids: dict[str, ShardId] = {}
_once = _ids.setdefault
"""One object for each shard id, though a million places name it."""


@lru_cache(maxsize=8)
def _order(shards: tuple[ShardId, ...]) -> dict[ShardId, int]:
    """Each shard's place. Batch after batch names the same ones, so these share one dict."""
    return {shard: place for place, shard in enumerate(shards)}
