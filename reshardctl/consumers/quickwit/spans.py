"""Locates members in a JSON text without keeping the text's values.

Every value is decoded once, so that broken text is noticed anywhere, and then dropped: a metastore
file of 100 MB consists of splits, which are not needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from reshardctl.errors import NotLoaded, UsageError

_BLANK = re.compile(r"[ \t\n\r]*")
MENDED = "mend it, or restore the file from a backup"
"""What to do about a text that Quickwit itself could not read."""
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, with the offsets of its key and value and after the value."""

    name: str
    key: int
    value: int
    end: int

    def text(self, whole: str) -> str:
        """The value as it is written."""
        return whole[self.value:self.end]


def _no_number(word: str) -> NoReturn:
    raise NotLoaded(f"{word} is no JSON", MENDED)


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def blank(text: str, at: int) -> int:
    """The first offset at or after `at` that is no white space."""
    match = _BLANK.match(text, at)
    assert match is not None
    return match.end()


def value_at(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at `at`, and the offset after it."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as wrong:
        raise broken(text, wrong.pos, wrong.msg) from None
    except RecursionError:
        raise broken(text, at, "nested too deeply") from None


def broken(text: str, at: int, why: str) -> NotLoaded:
    """The error for a text that is no JSON, with the line and column that editors show."""
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return NotLoaded(f"malformed JSON at line {line}, column {column}: {why}", MENDED)


def members(text: str, at: int, what: str) -> Iterator[Member]:
    """The members of the object at `at`, in order; raises UsageError for a name given twice."""
    if text[at:at + 1] != "{":
        raise NotLoaded(f"{what} is no JSON object", MENDED)
    seen: set[str] = set()
    at = blank(text, at + 1)
    while text[at:at + 1] != "}":
        if text[at:at + 1] != '"':
            raise broken(text, at, "a name in quotes is expected here")
        key = at
        name, at = value_at(text, at)
        at = blank(text, at)
        if text[at:at + 1] != ":":
            raise broken(text, at, "a colon is expected here")
        value = blank(text, at + 1)
        end = checked(text, value)
        if name in seen:
            raise UsageError(f"{what} holds {name!r} twice", "keep one of them")
        seen.add(name)
        yield Member(name, key, value, end)
        at = blank(text, end)
        if text[at:at + 1] == ",":
            at = blank(text, at + 1)
            if text[at:at + 1] == "}":
                raise broken(text, at, "a comma comes before the end of an object")
        elif text[at:at + 1] != "}":
            raise broken(text, at, "a comma or the end of an object is expected here")


def checked(text: str, at: int) -> int:
    """Checks the value at `at`, and returns the offset after it."""
    if text[at:at + 1] != "[":
        return value_at(text, at)[1]
    at = blank(text, at + 1)
    if text[at:at + 1] == "]":
        return at + 1
    while True:
        _, at = value_at(text, at)
        at = blank(text, at)
        if text[at:at + 1] == "]":
            return at + 1
        if text[at:at + 1] != ",":
            raise broken(text, at, "a comma or the end of a list is expected here")
        at = blank(text, at + 1)


def lone_surrogate(text: str) -> int | None:
    """Offset of an escaped half surrogate pair: Python reads it, Quickwit's parser refuses it."""
    if "\\ud" not in text and "\\uD" not in text:
        return None
    high = -1
    for match in _ESCAPE.finditer(text):
        unit = int(match[1], 16) if match[1] else 0
        follows = high >= 0 and high == match.start()
        if high >= 0 and not (follows and 0xDC00 <= unit < 0xE000):
            return high - 6
        if not follows and 0xDC00 <= unit < 0xE000:
            return match.start()
        high = match.end() if 0xD800 <= unit < 0xDC00 else -1
    return None if high < 0 else high - 6
