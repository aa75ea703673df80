"""Edits entries of one JSON object; every other byte stays as it is.

New entries look as Quickwit itself would write them: sorted by bytes, indented like their
neighbours (serde_json's pretty printer in files, its compact one in PostgreSQL; saves of Quickwit
0.8.2 and 0.9.0, Nov 2026).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reshardctl.consumers.quickwit.spans import Member, members, value_at
from reshardctl.errors import UsageError


def quoted(text: str) -> str:
    """A JSON string as serde_json writes it: raw UTF-8, with the necessary escapes only."""
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Style:
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
