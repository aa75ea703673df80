"""Edits entries of one JSON object in a text; every other byte stays as it is.

Members are located without keeping the text's values. Every value is decoded once, so that broken
text is noticed anywhere, and then dropped: a metastore file of 100 MB consists of splits, which are
not needed.

New entries look as Quickwit itself would write them: sorted by bytes, indented like their
neighbours (serde_json's pretty printer in files, its compact one in PostgreSQL; saves of Quickwit
0.8.2 and 0.9.0, Nov 2026).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct

from reshardctl.errors import NotLoaded, UsageError

_BLANK = re.compile(r"[ \t\n\r]*")
MENDED = "mend it, or restore the file from a backup"
"""What to do about a text that Quickwit itself could not read."""
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


class Member(Struct, frozen=True):
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


def quoted(text: str) -> str:
    """A JSON string as serde_json writes it: raw UTF-8, with the necessary escapes only."""
    return json.dumps(text, ensure_ascii=False)


class _Style(Struct, frozen=True):
    """Separators: after the brace, between entries, before the closing brace, after a name."""

    opening: str
    between: str
    closing: str
    colon: str


def edited(
    text: str, holder: Member, changes: Mapping[str, str | None], what: str
) -> str:
    """The text with entries of the object `holder` set to raw JSON values; `None` removes one.

    The result is parsed again: raises UsageError unless it means what was asked for.
    """
    entries = list(members(text, holder.value, what))
    new = _spliced(text, holder, entries, changes)
    wanted = {e.name: value_at(text, e.value)[0] for e in entries if e.name not in changes}
    wanted |= {name: json.loads(value) for name, value in changes.items() if value is not None}
    written = {m.name: value_at(new, m.value)[0] for m in members(new, holder.value, what)}
    if written != wanted:
        raise UsageError(
            f"{what} cannot be edited so that it means what was planned; nothing was written",
            "report this, with the part of the file around it",
        )
    return new


def _spliced(
    text: str, holder: Member, entries: Sequence[Member], changes: Mapping[str, str | None]
) -> str:
    there = {entry.name for entry in entries}
    if there >= changes.keys() and None not in changes.values():
        return _replaced(text, entries, changes)
    style = _style(text, holder, entries)
    kept: list[tuple[str, str]] = []
    for entry in entries:
        new = changes[entry.name] if entry.name in changes else entry.text(text)
        if new is not None:
            kept.append((entry.name, text[entry.key:entry.value] + new))
    for name in sorted(changes.keys() - there, key=str.encode):
        if (value := changes[name]) is not None:
            kept.insert(_place(kept, name), (name, quoted(name) + style.colon + value))
    body = style.between.join(raw for _, raw in kept)
    inside = f"{style.opening}{body}{style.closing}" if kept else ""
    return f"{text[:holder.value]}{{{inside}}}{text[holder.end:]}"


def _replaced(text: str, entries: Sequence[Member], changes: Mapping[str, str | None]) -> str:
    parts: list[str] = []
    done = 0
    for entry in entries:
        new = changes.get(entry.name)
        if new is not None:
            parts += [text[done:entry.value], new]
            done = entry.end
    return "".join([*parts, text[done:]])


def _place(kept: Sequence[tuple[str, str]], name: str) -> int:
    wanted = name.encode()
    return next((i for i, (other, _) in enumerate(kept) if other.encode() > wanted), len(kept))


def _style(text: str, holder: Member, entries: Sequence[Member]) -> _Style:
    if not entries:
        return _of_surroundings(text, holder)
    first, last = entries[0], entries[-1]
    opening = text[holder.value + 1:first.key]
    between = text[first.end:entries[1].key] if len(entries) > 1 else f",{opening}"
    return _Style(opening, between, text[last.end:holder.end - 1], _colon(text, first))


def _colon(text: str, member: Member) -> str:
    """The text between a member's name and its value."""
    return text[value_at(text, member.key)[1]:member.value]


def _of_surroundings(text: str, holder: Member) -> _Style:
    """The style of an empty object: indented if it is on a line of its own, else compact."""
    start = text.rfind("\n", 0, holder.key) + 1
    indent = text[start:holder.key]
    if not start or indent.strip(" \t"):
        return _Style("", ",", "", _colon(text, holder))
    line = "\r\n" if text[start - 2:start] == "\r\n" else "\n"
    deeper = line + indent + ("\t" if "\t" in indent else "  ")
    return _Style(deeper, f",{deeper}", line + indent, ": ")
