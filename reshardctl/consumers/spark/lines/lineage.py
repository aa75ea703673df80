"""Offsets of our own Python source `kinesis-lineage`: where a batch ended.

PySpark stores `json.dumps` of the source's dictionary, its spaces and order kept (runs on PySpark
4.0 to 4.3, November 2026): `{"shards": {"<shard>": {"seq": "<number>", "end": false}}, "stream":
"<name>", "created": <Unix seconds>, "retention": <seconds>}`. A shard may have two members more,
Unix seconds both: `from`, if it begins by time and no record of it was read yet, and `tip`, as of
when no record followed `seq` (docs/source.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from reshardctl.consumers.spark.lines.connectors import Digits, Twice, kind
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    SHARD_END,
    TRIM_HORIZON,
    Flaw,
    Position,
    SourceOffset,
)
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model import ShardId, index_of, is_number

NAME = "lineage"
MEMBERS = frozenset({"shards", "stream", "created", "retention"})
MARK = frozenset({"seq", "end", "from", "tip"})
_BEYOND = 1e11
"""Seconds from which the source takes a number for no time, so that milliseconds are refused."""


def recognised(value: object) -> bool:
    """Whether it is an offset of this shape, readable or not."""
    if not isinstance(value, dict) or not isinstance(value.get("shards"), dict):
        return False
    return all(name.startswith("shardId-") for name in value["shards"])


def read(value: Mapping[str, Any]) -> SourceOffset:
    """Read an offset of this shape."""
    positions: dict[ShardId, Position] = {}
    flaws: list[Flaw] = [*_remarks(value, MEMBERS), *_remarks(value["shards"], None)]
    for name, mark in value["shards"].items():
        shard = ShardId(name)
        try:
            positions[shard] = _position(shard, mark)
        except Malformed as error:
            flaws.append(Flaw(str(error), str(mark)[:200], shard))
        flaws += (replace(flaw, shard=shard) for flaw in _remarks(mark, MARK))
    stream = value.get("stream", "")
    if not isinstance(stream, str) or isinstance(stream, Digits):
        flaws.append(Flaw(f"stream is {kind(stream)}, not a name", str(stream)[:200]))
        stream = ""
    times: dict[str, float | None] = {}
    for name in ("created", "retention"):
        try:
            times[name] = _seconds(value, name)
        except Malformed as error:
            flaws.append(Flaw(str(error), str(value[name])[:200]))
    return SourceOffset(NAME, stream, None, positions, tuple(flaws), times.get("created"))


def line(
    before: str, positions: Mapping[ShardId, Position], without: Collection[ShardId] = (),
    created: float | None = None,
) -> str:
    """The offset `before` with these positions, and without some shards; the order is kept.

    The source's notes on a changed position are removed: a `tip` that outlived its `seq` would
    hide a loss. created: creation time of a recreated stream. Raises Malformed for a text that
    json.dumps would not have written.
    """
    value = json.loads(before)
    if json.dumps(value) != before:
        raise Malformed("it is not spelled as PySpark writes it")
    shards = value["shards"]
    in_order = list(shards) == sorted(shards)
    for shard in without:
        shards.pop(shard, None)
    for shard in sorted(positions):
        entry = shards.setdefault(shard, {})
        for name in ("from", "tip"):
            entry.pop(name, None)
        entry["seq"] = positions[shard].value
        entry["end"] = positions[shard].kind == SHARD_END
    if in_order:
        value["shards"] = {shard: shards[shard] for shard in sorted(shards)}
    if created is not None:
        value["created"] = created
    return json.dumps(value)


def begun_by_time(text: str) -> frozenset[ShardId]:
    """Shards of a valid offset that begin at a time."""
    shards = json.loads(text)["shards"]
    return frozenset(ShardId(name) for name, mark in shards.items() if mark.get("from") is not None)


def _position(shard: ShardId, mark: object) -> Position:
    if index_of(shard) is None:
        raise Malformed("this is no shard id")
    if not isinstance(mark, dict):
        raise Malformed(f"not an object but {kind(mark)}")
    number, ended = mark.get("seq"), mark.get("end")
    if not isinstance(ended, bool):
        raise Malformed(f"end is {kind(ended)}, neither true nor false")
    if not isinstance(number, str) or isinstance(number, Digits):
        raise Malformed(f"seq is {kind(number)}, not a string")
    if number and not is_number(number):
        raise Malformed(f"{number[:60]!r} is no sequence number")
    since, quiet = _seconds(mark, "from"), _seconds(mark, "tip")
    if ended:
        return Position(SHARD_END, number)
    if number:
        return Position(AFTER_SEQUENCE_NUMBER, number, quiet=quiet)
    if since is not None:
        return Position(AT_TIMESTAMP, str(round(since * 1000)), quiet=quiet)
    return Position(TRIM_HORIZON, quiet=quiet)


def _seconds(members: Mapping[str, Any], name: str) -> float | None:
    """Raises Malformed for what is no time in seconds."""
    value = members.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Digits | float):
        raise Malformed(f"{name} is {kind(value)}, not a time in Unix seconds")
    if not 0 <= float(value) < _BEYOND:
        raise Malformed(f"{name} {str(value)[:40]} is no time in Unix seconds")
    return float(value)


def _remarks(value: object, known: Collection[str] | None) -> Iterator[Flaw]:
    """Members that the source does not know or overlooks. known: those it reads, `None` for any."""
    if not isinstance(value, dict):
        return
    if known is not None and (unknown := sorted(value.keys() - known)):
        yield Flaw(f"the source does not know {unknown[0]!r}, and refuses it", str(value)[:200])
    if isinstance(value, Twice):
        yield Flaw("it names something twice; the last one counts", str(value)[:200], None, False)
