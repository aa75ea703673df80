"""Reads attributes as the AWS SDK for Go reads them into the library's structs.

aws-sdk-go dynamodbattribute.UnmarshalMap and aws-sdk-go-v2 attributevalue.UnmarshalMap: NULL and
absent are a nil pointer or an empty value, a number goes into a string as its text (run on both
releases, Nov 2026), any other mismatch is an error that fails the whole row.
"""

from __future__ import annotations

import re

from reshardctl.model import Attributes

_INTEGER = re.compile(r"-?\d{1,19}\Z", re.ASCII)


class MistypedError(Exception):
    """An attribute that does not fit its field; the text names it."""


def text(item: Attributes, name: str) -> str | None:
    """A *string."""
    if name not in item:
        return None
    ((kind, body),) = item[name].items()
    if kind == "NULL":
        return None
    if kind not in ("S", "N"):
        raise MistypedError(f"{name} is of type {kind}, not a string")
    return str(body)


def integer(item: Attributes, name: str) -> int | None:
    """An *int64."""
    if name not in item:
        return None
    ((kind, body),) = item[name].items()
    if kind == "NULL":
        return None
    if kind != "N" or not _INTEGER.match(str(body)):
        raise MistypedError(f"{name} is of type {kind}, not a whole number")
    return int(body)


def texts(item: Attributes, name: str) -> tuple[str, ...]:
    """A []string: a list, or a string set."""
    ((kind, body),) = item.get(name, {"NULL": True}).items()
    if kind == "NULL":
        return ()
    if kind == "SS":
        return tuple(body)
    if kind != "L":
        raise MistypedError(f"{name} is of type {kind}, not a list")
    return tuple(text({name: member}, name) or "" for member in body)
