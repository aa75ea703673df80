"""Reads connectors' offsets in one pass if they are spelled exactly as the connectors write them.

A checkpoint of ten thousand shards retains a million positions. Any other spelling is left to the
slow reader, which says what is wrong with it.
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


def _member(position: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\A\{{|,)(?:{_SHARD}:\{{{position}\}}|{_METADATA})", re.ASCII)


_AWSLABS, _QUBOLE = _member(_AGGREGATE + _PLACE), _member(_PLACE)
_BATCH = re.compile(r"-?\d{1,18}\Z", re.ASCII)


def read(text: str) -> SourceOffset | None:
    """A connector's offset with at least one shard; `None` for any other spelling."""
    if not text.startswith('{"') or not text.endswith("}}"):
        return None
    return _awslabs(text) if '"isLast":"' in text else _qubole(text)


def _awslabs(text: str) -> SourceOffset | None:
    hits = _AWSLABS.findall(text)
    positions = {
        ShardId(shard): Position(kind, value, int(sub), last == "true")
        for shard, sub, last, kind, value, *_ in hits
        if shard
    }
    heads = [tuple(hit[5:]) for hit in hits if not hit[0]]
    return _offset("awslabs", _AWSLABS, text, len(hits), positions, heads)


def _qubole(text: str) -> SourceOffset | None:
    hits = _QUBOLE.findall(text)
    positions = {ShardId(shard): Position(kind, value) for shard, kind, value, *_ in hits if shard}
    heads = [tuple(hit[3:]) for hit in hits if not hit[0]]
    return _offset("qubole", _QUBOLE, text, len(hits), positions, heads)


def _offset(
    connector: str, member: re.Pattern[str], text: str, count: int,
    positions: dict[ShardId, Position], heads: list[tuple[str, ...]],
) -> SourceOffset | None:
    """Checks that the whole text was read and nothing is given twice."""
    if not positions or len(heads) != 1 or count != len(positions) + 1:
        return None
    first, first_value, second, second_value = heads[0]
    head = {first: first_value, second: second_value}
    if len(head) != 2 or not _BATCH.match(head["batchId"]) or member.sub("", text) != "}":
        return None
    return SourceOffset(connector, head["streamName"], int(head["batchId"]), positions)
