"""What the offsets of both JVM connectors have in common: `{"metadata": …, "<shard>": …}`.

Read as KinesisSourceOffset.scala (Qubole 1.2.0) and KinesisV2SourceOffset.scala (awslabs 1.4.2 to
2.1) do, with json4s: runs of json4s 3.7.0-M11 and 4.0.7, November 2026, show what it takes for a
string (strings and whole numbers, not true, false, null or objects).

It is written as the connectors do: no spaces, and keys in the order of their Scala version. It is
read as their own reader does, and what that reader overlooks is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted  # what json.dumps calls for a text
from typing import Any, NoReturn

from reshardctl.consumers.spark.lines.scala_order import (
    BORN_EMPTY,
    BORN_SMALL,
    order_2_12,
    order_2_13,
)
from reshardctl.consumers.spark.positions import (
    AT_TIMESTAMP,
    KINDS,
    NUMBERED,
    Flaw,
    Position,
    SourceOffset,
)
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model import ShardId, index_of, is_number

METADATA = "metadata"


def ordered(keys: Sequence[str], scala: str, born: int) -> list[str]:
    """Keys in the order of a map of that Scala version; born: see scala_order."""
    if scala == "2.12":
        return order_2_12(keys)
    if scala == "2.13":
        return order_2_13(keys, born)
    raise ValueError(f"no key order is known for Scala {scala}")


def offset(
    stream: str, batch_id: int, shards: Mapping[ShardId, Mapping[str, str]], scala: str
) -> str:
    """A connector's offset: its metadata and every shard, filled in the order of their ids."""
    small, empty = BORN_SMALL, BORN_EMPTY
    parts = {METADATA: metadata(stream, batch_id, scala)}
    inner: list[str] = []
    for shard in sorted(shards):
        inner = inner or ordered(list(shards[shard]), scala, empty)
        parts[shard] = _object(shards[shard], inner)
    names = ordered(list(parts), scala, small)
    return "{" + ",".join(f"{quoted(name)}:{parts[name]}" for name in names) + "}"


def metadata(stream: str, batch_id: int, scala: str) -> str:
    """The metadata of an offset; the order of its two keys shows the Scala version."""
    head = {"batchId": str(batch_id), "streamName": stream}
    return _object(head, ordered(list(head), scala, BORN_SMALL))


def members(position: Position) -> dict[str, str]:
    """What both connectors store of a position, in their order."""
    return {"iteratorType": position.kind, "iteratorPosition": position.value}


def _object(values: Mapping[str, str], names: Sequence[str]) -> str:
    return "{" + ",".join(f"{quoted(n)}:{quoted(values[n])}" for n in names) + "}"


WORDS = {dict: "an object", list: "a list", bool: "true or false", float: "a fraction"}


class Twice(dict[str, Any]):
    """An object in which a member is given twice; the last counts, as for Jackson."""


class Digits(str):
    """A whole number as it is spelled: a sequence number exceeds any integer limit."""

    __slots__ = ()


def load(text: str) -> Any:
    """Read JSON; raises Malformed. Whole numbers stay whole however long they are."""
    try:
        return json.loads(text) if text.startswith(_MARK) else _DECODER.decode(text)
    except RecursionError:
        raise Malformed("it is nested too deep") from None
    except ValueError as error:
        if isinstance(error, Malformed):
            raise
        raise Malformed(f"it is no JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else Twice(members)


def _constant(name: str) -> NoReturn:
    raise Malformed(f"{name} is no JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_constant, parse_int=Digits
)
"""One for all texts: a log of ten thousand shards has as many files."""
_MARK = "\ufeff"
"""A byte order mark, which `json.loads` refuses in words of its own."""


def kind(value: object) -> str:
    """The kind of a JSON value, as text."""
    if value is None:
        return "null"
    if isinstance(value, Digits):
        return "a number"
    return next((word for type_, word in WORDS.items() if isinstance(value, type_)), "a string")


LONG = re.compile(r"[+-]?\d{1,19}\Z", re.ASCII)

Place = Callable[[Mapping[str, str]], Position]
"""Converts a shard's members, all strings, to its position; raises Malformed."""


def recognised(value: object) -> bool:
    """Whether it is an offset as the awslabs or Qubole connector writes one, readable or not."""
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
