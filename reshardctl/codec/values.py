"""Images, writes, steps, cuts and positions as JSON, exactly, and back, strictly.

Reading accepts only what writing would have written: unknown members, missing members and values of
another type are errors that name the file, the path in it and the reason.

A snapshot has an object with all of a `Cut` except `quiet`. A plan and the frontier of a sink have
a list: each of their cuts is a shard's beginning, its end or a record.

Positions are spelled in the words of the Kinesis API: the iterator types of GetShardIterator, and
KCL's SHARD_END. A kind, a number, a sub-number and a time mean one cut, and every cut is spelled by
them without loss.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from reshardctl.codec.strict import (
    JsonPath,
    array,
    boolean,
    integer,
    list_of,
    mapping,
    mapping_of,
    members,
    moment_or_none,
    string,
)
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Attributes,
    AttributeValue,
    Change,
    Create,
    Cut,
    Delete,
    Image,
    Rank,
    Step,
    Update,
    Write,
    at_number,
    at_time,
    canonical,
    is_number,
)
from reshardctl.model.cuts import PARTS

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def text(value: object) -> str:
    """JSON in one spelling: members sorted, no spaces, ASCII."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_object
    )


def _object(value: object) -> dict[str, Any]:
    """An attribute value that is a mapping and no dict (`AlikeValue`), as an object."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def digest(value: object) -> str:
    """SHA-256 of `text(value)`, in hexadecimal."""
    return sha256(text(value).encode()).hexdigest()


def image_json(image: Image) -> dict[str, Any]:
    """{"key": …, "attributes": {name: DynamoDB JSON}}."""
    return {"key": image.key, "attributes": _plain(image.attributes)}


def write_json(write: Write) -> dict[str, Any]:
    """A whole write; its change is {"create": …}, {"update": …} or {"delete": {}}."""
    return {
        "key": write.key,
        "change": _change_json(write.change),
        "before": None if write.before is None else image_json(write.before),
        "why": write.why,
        "guard": list(write.guard),
        "live": write.live,
        "running": write.running,
    }


def step_json(step: Step) -> dict[str, Any]:
    """A whole step."""
    writes = [write_json(write) for write in step.writes]
    return {"title": step.title, "writes": writes, "barrier": step.barrier}


def _change_json(change: Change) -> dict[str, Any]:
    match change:
        case Create(attributes):
            return {"create": {"attributes": _plain(attributes)}}
        case Update(values, remove, add):
            added = None if add is None else dict(add)
            return {"update": {"set": _plain(values), "remove": list(remove), "add": added}}
        case Delete():
            return {"delete": {}}


def _plain(attributes: Attributes) -> dict[str, Any]:
    return {name: dict(value) for name, value in attributes.items()}


def image(value: object, json_path: JsonPath) -> Image:
    """Reads what `image_json` wrote."""
    row = members(value, ("key", "attributes"), json_path)
    key = string(row["key"], json_path / "key")
    return Image(key, canonical(attributes(row["attributes"], json_path / "attributes")))


def image_or_none(value: object, json_path: JsonPath) -> Image | None:
    """An image, or null for an absent row."""
    return None if value is None else image(value, json_path)


def write(value: object, json_path: JsonPath) -> Write:
    """Reads what `write_json` wrote."""
    names = ("key", "change", "before", "why", "guard", "live", "running")
    fields = members(value, names, json_path)
    key = string(fields["key"], json_path / "key")
    before = image_or_none(fields["before"], json_path / "before")
    change = _change(fields["change"], json_path / "change")
    if (before is None) is not isinstance(change, Create):
        (json_path / "before").wrong("only a row to create is absent before")
    if before is not None and before.key != key:
        (json_path / "before" / "key").wrong(
            f"another row: {before.key!r}, the write is of {key!r}"
        )
    return Write(
        key=key,
        change=change,
        before=before,
        why=string(fields["why"], json_path / "why"),
        guard=list_of(fields["guard"], json_path / "guard", string),
        live=boolean(fields["live"], json_path / "live"),
        running=string(fields["running"], json_path / "running"),
    )


def step(value: object, json_path: JsonPath) -> Step:
    """Reads what `step_json` wrote."""
    fields = members(value, ("title", "writes", "barrier"), json_path)
    return Step(
        title=string(fields["title"], json_path / "title"),
        writes=list_of(fields["writes"], json_path / "writes", write),
        barrier=string(fields["barrier"], json_path / "barrier"),
    )


def _change(value: object, json_path: JsonPath) -> Change:
    if not isinstance(value, dict) or len(value) != 1:
        json_path.wrong("not one of create, update, delete")
    ((name, body),) = value.items()
    inside = json_path / name
    if name == "create":
        fields = members(body, ("attributes",), inside)
        return Create(attributes(fields["attributes"], inside / "attributes"))
    if name == "update":
        return _update(members(body, ("set", "remove", "add"), inside), inside)
    if name != "delete":
        json_path.wrong(f"{name!r} is not one of create, update, delete")
    members(body, (), inside)
    return Delete()


def _update(fields: Mapping[str, Any], json_path: JsonPath) -> Update:
    add = fields["add"]
    return Update(
        set=attributes(fields["set"], json_path / "set"),
        remove=list_of(fields["remove"], json_path / "remove", string),
        add=None if add is None else mapping_of(add, json_path / "add", integer),
    )


def attributes(value: object, json_path: JsonPath) -> dict[str, AttributeValue]:
    """DynamoDB JSON attributes, binary ones as base64 text."""
    found = mapping(value, json_path)
    return {name: _attribute(member, json_path, name) for name, member in found.items()}


def _attribute(value: object, outer: JsonPath, member: str | int) -> AttributeValue:
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("S"), str):
        return value  # most are; this spares spelling out their path
    json_path = outer / member
    if not isinstance(value, dict) or len(value) != 1:
        json_path.wrong('not an attribute value like {"S": "text"}')
    ((kind, body),) = value.items()
    inside = json_path / kind
    match kind:
        case "S":
            string(body, inside)
        case "N":
            _number(body, inside)
        case "B":
            _binary(body, inside)
        case "BOOL":
            boolean(body, inside)
        case "NULL":
            if body is not True:
                inside.wrong("not true")
        case "SS" | "NS" | "BS":
            _set(kind, body, inside)
        case "L":
            for n, item in enumerate(array(body, inside)):
                _attribute(item, inside, n)
        case "M":
            attributes(body, inside)
        case _:
            json_path.wrong(f"unknown type {kind!r}")
    return value


def _set(kind: str, body: object, json_path: JsonPath) -> None:
    each = {"SS": string, "NS": _number, "BS": _binary}[kind]
    values = list_of(body, json_path, each)
    if not values or len(set(values)) < len(values):
        json_path.wrong("a set has members, each once")


def _number(value: object, json_path: JsonPath) -> str:
    if not _NUMBER.fullmatch(string(value, json_path)):
        json_path.wrong(f"not a number: {value!r}")
    return str(value)


def _binary(value: object, json_path: JsonPath) -> str:
    text = string(value, json_path)
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        json_path.wrong("not base64")
    return text


def cut_object(cut: Cut) -> dict[str, Any]:
    """A cut as an object."""
    return {
        "rank": cut.rank.name, "number": cut.text or str(cut.number), "sub": cut.sub,
        "time": cut.time, "by_time": cut.by_time,
    }


def cut_of_object(value: object, json_path: JsonPath) -> Cut:
    """Reads what `cut_object` wrote. UsageError for anything else."""
    body = members(value, ("rank", "number", "sub", "time", "by_time"), json_path)
    rank, number = (
        string(body["rank"], json_path / "rank"),
        string(body["number"], json_path / "number"),
    )
    if rank not in Rank.__members__:
        (json_path / "rank").wrong(f"no place in a shard is called {rank!r}")
    if not is_number(number):
        (json_path / "number").wrong(f"not a decimal number: {number!r}")
    return Cut(
        Rank[rank], int(number), integer(body["sub"], json_path / "sub"),
        number if int(number) else "", moment_or_none(body["time"], json_path / "time"),
        boolean(body["by_time"], json_path / "by_time"),
    )


def cut_list(cut: Cut) -> list[Any]:
    """A cut as rank, text of its number and sub-sequence number."""
    return [cut.rank.name, cut.text, cut.sub]


def cut_of_list(value: object, json_path: JsonPath) -> Cut:
    """Reads what `cut_list` wrote. UsageError for anything else."""
    match value:
        case ["START", "", 0]:
            return START
        case ["DONE", "", 0]:
            return DONE
        case ["INSIDE", str(number), int(sub)] if is_number(number):
            return at_number(number, sub)
        case _:
            return json_path.wrong("not a place")


def quiet_cut_list(cut: Cut) -> list[Any]:
    """A cut as `cut_list` writes it, with `quiet` in Unix seconds, or null."""
    return [*cut_list(cut), cut.quiet]


def cut_of_quiet_list(value: object, json_path: JsonPath) -> Cut:
    """Reads what `quiet_cut_list` wrote; an end may have its last record's number."""
    match value:
        case ["DONE", str(text), 0, None] if not text or is_number(text.partition("/")[0]):
            return Cut(DONE.rank, text=text)
        case ["START" | "INSIDE", _, _, quiet]:
            cut = cut_of_list(value[:3], json_path)
            return replace(cut, quiet=moment_or_none(quiet, json_path / 3))
        case _:
            return json_path.wrong("not a place")


AFTER = "AFTER_SEQUENCE_NUMBER"
AT = "AT_SEQUENCE_NUMBER"
TRIM_HORIZON = "TRIM_HORIZON"
LATEST = "LATEST"
AT_TIMESTAMP = "AT_TIMESTAMP"
SHARD_END = "SHARD_END"
KINDS = (AFTER, AT, TRIM_HORIZON, LATEST, AT_TIMESTAMP, SHARD_END)
_OF_RANK = {Rank.START: TRIM_HORIZON, Rank.TIP: LATEST, Rank.DONE: SHARD_END}


def kind_of(cut: Cut) -> str:
    """The kind that a cut is spelled with."""
    if cut.rank is not Rank.INSIDE:
        return _OF_RANK[cut.rank]
    if cut.by_time:
        return AT_TIMESTAMP
    return AT if cut.sub < 0 else AFTER


def number_of(cut: Cut) -> str | None:
    """The sequence number of a cut; of a shard's end that of its last record, if it is stored."""
    if cut.rank is Rank.DONE:
        return cut.text if cut.text.isdecimal() else None
    inside = cut.rank is Rank.INSIDE and not cut.by_time
    return (cut.text or str(cut.number)) if inside else None


def last_place(cut: Cut) -> Cut:
    """A shard's end as the cut after its last record, where that is known; any other cut itself."""
    if cut.rank is not Rank.DONE:
        return cut
    last = number_of(cut)
    return START if cut.text == str(START) else cut if last is None else at_number(last)


def sub_number_of(cut: Cut) -> int | None:
    """How many user records of an aggregated record are processed (AT), or its last one (AFTER)."""
    if cut.rank is not Rank.INSIDE or cut.by_time:
        return None
    return cut.sub + PARTS if cut.sub < 0 else cut.sub


def cut_of(kind: str, number: str | None, sub_number: int, time: float | None) -> Cut:
    """The cut that one of `KINDS` means. A kind that needs a number is given one."""
    match kind:
        case "TRIM_HORIZON":
            return START
        case "LATEST":
            return TIP
        case "SHARD_END":
            return DONE if number is None else replace(DONE, text=number)
        case "AT_TIMESTAMP":
            return at_time(time)
        case _:
            assert number is not None, "the reader has checked it"
            return at_number(number, sub_number - PARTS if kind == AT else sub_number)
