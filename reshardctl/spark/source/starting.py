"""Where a query without a checkpoint begins: the option startingPosition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from reshardctl.errors import UsageError
from reshardctl.model import ShardId, decode, index_of, is_number
from reshardctl.model.times import parse_instant

TRIM_HORIZON = "TRIM_HORIZON"
LATEST = "LATEST"
AT_TIMESTAMP = "AT_TIMESTAMP"
AFTER_SEQUENCE_NUMBER = "AFTER_SEQUENCE_NUMBER"
SHARD_END = "SHARD_END"
_FORMS = (
    "TRIM_HORIZON, LATEST, AT_TIMESTAMP 2026-09-22T09:14:00Z (or Unix seconds), or JSON: "
    '{"shardId-000000000000": "TRIM_HORIZON", "shardId-000000000001": '
    '{"AFTER_SEQUENCE_NUMBER": "4966…"}}'
)
_EARLIEST = 1_384_387_200
"""14 November 2013, Unix seconds, when Kinesis was announced; lower numbers are no record's time.
"""


@dataclass(frozen=True, slots=True)
class Start:
    """A start. kind: a constant of this module; value: a number, Unix seconds, or `None`."""

    kind: str
    value: str | float | None = None


@dataclass(frozen=True, slots=True)
class Starting:
    """The frontier to begin at: one start for all shards, or one for each named shard."""

    everywhere: Start | None = None
    shards: Mapping[ShardId, Start] = field(default_factory=dict)


def parse_starting(text: str) -> Starting:
    """Read the option; raises UsageError if it makes no sense."""
    stripped = text.strip()
    if stripped.startswith("{"):
        return Starting(shards=_shards(stripped))
    word, _, rest = stripped.partition(" ")
    kind = word.upper()
    if kind in (TRIM_HORIZON, LATEST) and not rest:
        return Starting(Start(kind))
    if kind == AT_TIMESTAMP and rest.strip():
        return Starting(Start(kind, _moment(rest.strip())))
    raise UsageError(f"startingPosition is {text[:80]!r}", f"write {_FORMS}")


def _shards(text: str) -> dict[ShardId, Start]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"startingPosition is no JSON: {error}", f"write {_FORMS}") from None
    starts: dict[ShardId, Start] = {}
    for name, start in value.items():
        if index_of(name) is None:
            raise UsageError(f"startingPosition: {name!r} is no shard id", f"write {_FORMS}")
        starts[ShardId(name)] = _start(name, start)
    if not starts:
        raise UsageError("startingPosition names no shard", f"write {_FORMS}")
    return starts


def _start(shard: str, given: object) -> Start:
    if isinstance(given, str):
        if given.upper() in (TRIM_HORIZON, LATEST, SHARD_END):
            return Start(given.upper())
        return Start(AFTER_SEQUENCE_NUMBER, _number(shard, given))
    if isinstance(given, Mapping) and len(given) == 1:
        ((kind, value),) = given.items()
        if kind == AT_TIMESTAMP:
            return Start(kind, _moment(str(value)))
        if kind == AFTER_SEQUENCE_NUMBER:
            return Start(kind, _number(shard, str(value)))
    raise UsageError(f"startingPosition of {shard} is {str(given)[:80]!r}", f"write {_FORMS}")


def _number(shard: str, text: str) -> str:
    if not is_number(text):
        what = f"startingPosition of {shard}: {text[:80]!r} is no sequence number"
        raise UsageError(what, f"write {_FORMS}")
    decoded = decode(text)
    if decoded is not None and decoded.shard != index_of(shard):
        raise UsageError(
            f"startingPosition of {shard}: {text} is a number of shard {decoded.shard}",
            "give each shard a number of its own records",
        )
    if decoded is not None and decoded.is_end:
        raise UsageError(
            f"startingPosition of {shard}: {text} is its EndingSequenceNumber, which no record has",
            'write "SHARD_END" for a shard of which nothing is to be read',
        )
    return text


def _moment(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return parse_instant(text, "startingPosition")
    if not _EARLIEST <= seconds < 1e10:
        raise UsageError(
            f"startingPosition: {text} is no time in Unix seconds",
            "write seconds, not milliseconds, or 2026-09-22T09:14:00Z",
        )
    return seconds
