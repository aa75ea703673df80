"""Reads Spark's own JSON, the second line of its logs, as json4s and Jackson do.

The first line is `v` and the version of what follows (HDFSMetadataLog).

The first value of the line counts. A line that is no object has no members, and each member then
has its default. What is read and what throws: 3,058 texts given to OffsetSeqMetadata and
CommitMetadata of Spark 3.5.9, 4.0.5 and 4.3.0 (runs, November 2026).

A file that cannot be read raises `Malformed`; the reader of the directory makes an anomaly of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from reshardctl.codec.strict import named
from reshardctl.errors import UsageError


class Malformed(ValueError):
    """A text that is not of its format; `str()` says why, for people."""


NEWEST = 2
"""Written by Spark 4.2.0 and later in offsets/ and by 4.0 and later in commits/."""
NEWEST_SPARK = "4.3.0"

_MARKER = re.compile(r"v([1-9][0-9]{0,8})\Z", re.ASCII)


def version_of(line: str) -> int:
    """The version in a log's first line.

    Raises Malformed for a line that names none. Raises UsageError for a version that a newer Spark
    wrote: what such a Spark does at its next start is not known.
    """
    match = _MARKER.match(line)
    if match is None:
        raise Malformed(f"its first line is {line[:40]!r}, and only v1 and v2 are known")
    version = int(match[1])
    if version > NEWEST:
        raise UsageError(
            f"the checkpoint was written by a newer Spark than {NEWEST_SPARK}, the newest known to "
            f"this reshardctl: a log of it begins with {line}, and {NEWEST_SPARK} writes v{NEWEST}",
            "use a newer reshardctl",
        )
    return version


_BITS = 64
_HIGHEST = 2 ** (_BITS - 1) - 1
_LOWEST = -(2 ** (_BITS - 1))
MOST_DIGITS = 1000
"""Of a number; Jackson's StreamReadConstraints."""


class _Twice(dict[str, Any]):
    """An object with members given twice, whose names are in `twice`."""

    twice: frozenset[str] = frozenset()


def members_of(text: str, what: str) -> Mapping[str, Any]:
    """The members of the line. Raises Malformed if Spark cannot read the line.

    what: the line's name in messages.
    """
    value = _first_value(text, what)
    if value is None:
        raise Malformed(f"{what} is null")
    return value if isinstance(value, dict) else {}


def long_of(members: Mapping[str, Any], name: str) -> int:
    """A member as a Long, 0 where it is absent or null. Raises Malformed where json4s throws.

    A whole number keeps its lowest 64 bits (BigInteger.longValue), a fraction is cut off
    (Double.longValue).
    """
    value = member(members, name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Malformed(f"{name} is not a number but {_named(value)}")
    if isinstance(value, int):
        return int((value - _LOWEST) % 2**_BITS + _LOWEST)
    return int(min(max(value, _LOWEST), _HIGHEST))


def texts_of(members: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A member as a Map[String, String]. Raises Malformed where json4s throws."""
    value = member(members, name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"{name} is not an object but {_named(value)}")
    for key, text in value.items():
        if isinstance(text, bool | list | dict):
            raise Malformed(f"{name} has {key!r}, which is not a string but {_named(text)}")
    return value


def member(members: Mapping[str, Any], name: str) -> Any:
    """A member, `None` where it is absent. Raises Malformed for one that is given twice."""
    if name in getattr(members, "twice", ()):
        raise Malformed(f"{name} is given twice")
    return members.get(name)


def _first_value(text: str, what: str) -> Any:
    def constant(name: str) -> NoReturn:
        raise Malformed(f"{what} is no JSON: {name}")

    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=constant, parse_int=_whole,
    )
    try:
        value, _ = decoder.raw_decode(text.lstrip(" \t\r\n"))
    except RecursionError:
        raise Malformed(f"{what} is nested too deep") from None
    except ValueError as error:
        if isinstance(error, Malformed):
            raise
        raise Malformed(f"{what} is no JSON: {error}") from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = _Twice(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        members.twice = frozenset(name for name in members if names.count(name) > 1)
    return members


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise Malformed(f"a number has {len(digits)} digits")
    return int(digits)


def _named(value: object) -> str:
    return named(dict(value) if isinstance(value, dict) else value)
