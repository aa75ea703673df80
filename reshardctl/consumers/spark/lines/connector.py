"""What the offsets of both connectors have in common: `{"metadata": …, "<shard>": …}`.

Read as KinesisSourceOffset.scala (Qubole 1.2.0) and KinesisV2SourceOffset.scala (awslabs 1.4.2 to
2.1) do, with json4s: runs of json4s 3.7.0-M11 and 4.0.7, November 2026, show what it takes for a
string (strings and whole numbers, not true, false, null or objects).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reshardctl.consumers.spark.lines.loading import Digits, Twice, kind
from reshardctl.consumers.spark.lines.offset import Flaw, SourceOffset
from reshardctl.consumers.spark.lines.writing import METADATA
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.positions import AT_TIMESTAMP, KINDS, NUMBERED, Position
from reshardctl.model import ShardId, index_of, is_number

LONG = re.compile(r"[+-]?\d{1,19}\Z", re.ASCII)

Place = Callable[[Mapping[str, str]], Position]
"""Converts a shard's members, all strings, to its position; raises Malformed."""


def recognised(value: object) -> bool:
    """Whether it is a connector's offset, readable or not."""
    if not isinstance(value, dict):
        return False
    head = value.get(METADATA)
    if isinstance(head, dict) and not {"streamName", "batchId"}.isdisjoint(head):
        return True
    return any(name.startswith("shardId-") for name in value)


def read(
    connector: str, value: Mapping[str, Any], names: frozenset[str], position_of: Place
) -> SourceOffset:
    """Read an offset of a connector whose shards have the members `names`."""
    flaws: list[Flaw] = []
    stream, batch_id = _head(value.get(METADATA), flaws)
    positions: dict[ShardId, Position] = {}
    for name, members in value.items():
        if name == METADATA:
            continue
        shard = ShardId(name)
        flaws += _remarks(shard, members, names)
        try:
            positions[shard] = position_of(strings(members, names))
        except Malformed as error:
            flaws.append(Flaw(str(error), _raw(members), shard))
    if isinstance(value, Twice):
        flaws.append(Flaw("it names something twice; the last one counts", "", None, False))
    return SourceOffset(connector, stream, batch_id, positions, tuple(flaws))


def strings(value: object, names: frozenset[str]) -> dict[str, str]:
    """The named members of an object, as json4s takes them for strings; raises Malformed."""
    if not isinstance(value, dict):
        raise Malformed(f"not an object but {kind(value)}")
    if missing := names - value.keys():
        raise Malformed(f"{', '.join(sorted(missing))} missing")
    for name, member in value.items():
        if not isinstance(member, str):
            raise Malformed(f"{name} is {kind(member)}, and the connector wants a string")
    return {name: str(value[name]) for name in names}


def position(type_: str, value: str, sub: int = -1, last: bool = True) -> Position:
    """A position that Kinesis would take; raises Malformed."""
    if type_ not in KINDS:
        raise Malformed(f"iteratorType {type_[:40]!r} is none that the connector knows")
    if type_ in NUMBERED and not is_number(value):
        raise Malformed(f"{value[:60]!r} is no sequence number")
    if type_ == AT_TIMESTAMP and not LONG.match(value):
        raise Malformed(f"{value[:60]!r} is no time in milliseconds")
    return Position(type_, value, sub, last)


def _head(head: object, flaws: list[Flaw]) -> tuple[str, int | None]:
    """Stream and batch of the metadata; its flaws are added to `flaws`."""
    try:
        members = strings(head if head is not None else {}, frozenset({"streamName", "batchId"}))
    except Malformed as error:
        flaws.append(Flaw(f"metadata: {error}", _raw(head)))
        members = {}
        if isinstance(head, dict):
            members = {name: str(text) for name, text in head.items() if isinstance(text, str)}
    batch = members.get("batchId")
    if batch is not None and not LONG.match(batch):
        flaws.append(Flaw(f"metadata: batchId {batch[:40]!r} is no number", batch))
        batch = None
    return members.get("streamName", ""), None if batch is None else int(batch)


def _remarks(shard: ShardId, members: object, names: frozenset[str]) -> Iterator[Flaw]:
    if index_of(shard) is None:
        yield Flaw("this is no shard id", shard[:200], shard, False)
    if not isinstance(members, dict):
        return
    if len(members) > len(names) and (unknown := sorted(members.keys() - names)):
        why = f"the connector does not know {unknown[0]!r} and will drop it"
        yield Flaw(why, _raw(members), shard, False)
    if isinstance(members, Twice):
        why = "it names something twice; the last one counts"
        yield Flaw(why, _raw(members), shard, False)
    if any(isinstance(value, Digits) for value in members.values()):
        why = "a number is where the connector writes a string; it reads it too"
        yield Flaw(why, _raw(members), shard, False)


def _raw(value: object) -> str:
    return str(value)[:200]
