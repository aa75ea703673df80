"""Reads JSON as the connectors' own reader does, and keeps what that reader overlooks."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from reshardctl.consumers.spark.malformed import Malformed

WORDS = {dict: "an object", list: "a list", bool: "true or false", float: "a fraction"}


class Twice(dict[str, Any]):
    """An object in which a member is given twice; the last counts, as for Jackson."""


def load(text: str) -> Any:
    """Read JSON; raises Malformed. Whole numbers stay whole however long they are."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        return members if len(members) == len(pairs) else Twice(members)

    def constant(name: str) -> NoReturn:
        raise Malformed(f"{name} is no JSON")

    try:
        return json.loads(
            text, object_pairs_hook=once, parse_constant=constant, parse_int=Digits
        )
    except RecursionError:
        raise Malformed("it is nested too deep") from None
    except ValueError as error:
        if isinstance(error, Malformed):
            raise
        raise Malformed(f"it is no JSON: {error}") from None


class Digits(str):
    """A whole number as it is spelled: a sequence number exceeds any integer limit."""

    __slots__ = ()


def kind(value: object) -> str:
    """The kind of a JSON value, as text."""
    if value is None:
        return "null"
    if isinstance(value, Digits):
        return "a number"
    return next((word for type_, word in WORDS.items() if isinstance(value, type_)), "a string")
