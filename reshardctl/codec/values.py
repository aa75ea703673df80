"""Images, writes and steps as JSON, exactly, and back, strictly.

Reading takes nothing that writing would not have written: unknown members, missing members and
values of another type are errors that name the file, the place in it and the reason.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from reshardctl.codec.strict import Place, array, boolean, integer, members, named, string
from reshardctl.model import (
    Attributes,
    AttributeValue,
    Change,
    Create,
    Delete,
    Image,
    Step,
    Update,
    Write,
    canonical,
)

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def text(value: object) -> str:
    """JSON in one spelling: members sorted, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: object) -> str:
    """SHA-256 of `text(value)`, in hexadecimal."""
    return sha256(text(value).encode()).hexdigest()


def image_json(image: Image) -> dict[str, Any]:
    """{"key": …, "attributes": {name: DynamoDB JSON}}."""
    return {"key": image.key, "attributes": _plain(image.attributes)}


def write_json(write: Write) -> dict[str, Any]:
    """All of a write; its change is {"create": …}, {"update": …} or {"delete": {}}."""
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
    """All of a step."""
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


def image(value: object, place: Place) -> Image:
    """What `image_json` wrote."""
    found = members(value, ("key", "attributes"), place)
    key = string(found["key"], place / "key")
    return Image(key, canonical(attributes(found["attributes"], place / "attributes")))


def image_or_none(value: object, place: Place) -> Image | None:
    """An image, or null for an absent row."""
    return None if value is None else image(value, place)


def write(value: object, place: Place) -> Write:
    """What `write_json` wrote."""
    names = ("key", "change", "before", "why", "guard", "live", "running")
    found = members(value, names, place)
    guard = array(found["guard"], place / "guard")
    key = string(found["key"], place / "key")
    before = image_or_none(found["before"], place / "before")
    change = _change(found["change"], place / "change")
    if (before is None) is not isinstance(change, Create):
        (place / "before").wrong("only a row to create is absent before")
    if before is not None and before.key != key:
        (place / "before" / "key").wrong(f"another row: {before.key!r}, the write is of {key!r}")
    return Write(
        key=key,
        change=change,
        before=before,
        why=string(found["why"], place / "why"),
        guard=tuple(string(one, place / "guard" / n) for n, one in enumerate(guard)),
        live=boolean(found["live"], place / "live"),
        running=string(found["running"], place / "running"),
    )


def step(value: object, place: Place) -> Step:
    """What `step_json` wrote."""
    found = members(value, ("title", "writes", "barrier"), place)
    writes = array(found["writes"], place / "writes")
    return Step(
        title=string(found["title"], place / "title"),
        writes=tuple(write(one, place / "writes" / n) for n, one in enumerate(writes)),
        barrier=string(found["barrier"], place / "barrier"),
    )


def _change(value: object, place: Place) -> Change:
    if not isinstance(value, dict) or len(value) != 1:
        place.wrong("not one of create, update, delete")
    ((name, body),) = value.items()
    inside = place / name
    if name == "create":
        found = members(body, ("attributes",), inside)
        return Create(attributes(found["attributes"], inside / "attributes"))
    if name == "update":
        return _update(members(body, ("set", "remove", "add"), inside), inside)
    if name != "delete":
        place.wrong(f"{name!r} is not one of create, update, delete")
    members(body, (), inside)
    return Delete()


def _update(found: Mapping[str, Any], place: Place) -> Update:
    remove = array(found["remove"], place / "remove")
    add = found["add"]
    if add is not None:
        if not isinstance(add, dict):
            (place / "add").wrong(f"not an object but {named(add)}")
        add = {name: integer(by, place / "add" / name) for name, by in add.items()}
    return Update(
        set=attributes(found["set"], place / "set"),
        remove=tuple(string(one, place / "remove" / n) for n, one in enumerate(remove)),
        add=add,
    )


def attributes(value: object, place: Place) -> dict[str, AttributeValue]:
    """DynamoDB JSON attributes, binary ones as base64 text."""
    if not isinstance(value, dict):
        place.wrong(f"not an object but {named(value)}")
    return {name: _attribute(one, place, name) for name, one in value.items()}


def _attribute(value: object, outer: Place, member: str | int) -> AttributeValue:
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("S"), str):
        return value  # most are: no place is spelled for them
    place = outer / member
    if not isinstance(value, dict) or len(value) != 1:
        place.wrong('not an attribute value like {"S": "text"}')
    ((kind, body),) = value.items()
    inside = place / kind
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
            for n, one in enumerate(array(body, inside)):
                _attribute(one, inside, n)
        case "M":
            attributes(body, inside)
        case _:
            place.wrong(f"unknown type {kind!r}")
    return value


def _set(kind: str, body: object, place: Place) -> None:
    each = {"SS": string, "NS": _number, "BS": _binary}[kind]
    found = array(body, place)
    for n, one in enumerate(found):
        each(one, place / n)
    if not found or len(set(found)) < len(found):
        place.wrong("a set has members, each once")


def _number(value: object, place: Place) -> str:
    if not _NUMBER.fullmatch(string(value, place)):
        place.wrong(f"not a number: {value!r}")
    return str(value)


def _binary(value: object, place: Place) -> str:
    found = string(value, place)
    try:
        base64.b64decode(found, validate=True)
    except (binascii.Error, ValueError):
        place.wrong("not base64")
    return found
