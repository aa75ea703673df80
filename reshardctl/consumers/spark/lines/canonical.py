"""Connectors' offsets exactly as they write them, read in one pass.

A checkpoint of ten thousand shards retains a million positions. What is spelled otherwise in any
way is left to the long way, which says what is wrong with it.
"""

from __future__ import annotations

import re

from reshardctl.consumers.spark.lines.offset import SourceOffset
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


def _member(place: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\A\{{|,)(?:{_SHARD}:\{{{place}\}}|{_METADATA})", re.ASCII)


_AWSLABS, _QUBOLE = _member(_AGGREGATE + _PLACE), _member(_PLACE)
_BATCH = re.compile(r"-?\d{1,18}\Z", re.ASCII)


def read(text: str) -> SourceOffset | None:
    """A connector's offset with at least one shard, `None` for whatever is not spelled so."""
    if not text.startswith('{"') or not text.endswith("}}"):
        return None
    return _awslabs(text) if '"isLast":"' in text else _qubole(text)


def _awslabs(text: str) -> SourceOffset | None:
    found = _AWSLABS.findall(text)
    positions = {
        ShardId(shard): Position(kind, value, int(sub), last == "true")
        for shard, sub, last, kind, value, *_ in found
        if shard
    }
    heads = [tuple(one[5:]) for one in found if not one[0]]
    return _offset("awslabs", _AWSLABS, text, len(found), positions, heads)


def _qubole(text: str) -> SourceOffset | None:
    found = _QUBOLE.findall(text)
    positions = {ShardId(shard): Position(kind, value) for shard, kind, value, *_ in found if shard}
    heads = [tuple(one[3:]) for one in found if not one[0]]
    return _offset("qubole", _QUBOLE, text, len(found), positions, heads)


def _offset(
    connector: str, member: re.Pattern[str], text: str, count: int,
    positions: dict[ShardId, Position], heads: list[tuple[str, ...]],
) -> SourceOffset | None:
    """Nothing may be left over, and nothing be given twice."""
    if not positions or len(heads) != 1 or count != len(positions) + 1:
        return None
    first, one, second, other = heads[0]
    head = {first: one, second: other}
    if len(head) != 2 or not _BATCH.match(head["batchId"]) or member.sub("", text) != "}":
        return None
    return SourceOffset(connector, head["streamName"], int(head["batchId"]), positions)
