"""Reads JSON as the connectors' own reader does, and keeps what that reader overlooks."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from reshardctl.consumers.spark.malformed import Malformed

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
