"""Finds the line of each table and each key of a TOML document, which the parser does not tell.

Scans text that the parser has accepted: it only has to tell keys, values and comments apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Path = tuple[str | int, ...]
"""Keys from the outermost table on; a number for an element of an array of tables."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_PART = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*'")
_QUOTED = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\]|\\.)*"' r"|'[^']*'", re.DOTALL,
)
_PLAIN = re.compile(r"[^\[\]{}\"'#\n]+")


def lines(text: str) -> dict[Path, int]:
    """Path → line, from 1. Members of inline tables have the line of their table."""
    return dict(_Scan(text).found())


class _Scan:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counts: dict[Path, int] = {}
        """How many tables each array of tables has so far."""

    def found(self) -> Iterator[tuple[Path, int]]:
        seen: set[Path] = set()
        table: Path = ()
        for path, line, header in self._entries():
            whole = path if header else table + path
            if header:
                table = path
            start = 1 if header else len(table) + 1
            for end in range(start, len(whole) + 1):
                if whole[:end] not in seen:
                    seen.add(whole[:end])
                    yield whole[:end], line

    def _entries(self) -> Iterator[tuple[Path, int, bool]]:
        """Headers and keys, with their lines."""
        while self._skip(_BLANK) < len(self._text):
            line = self._text.count("\n", 0, self._at) + 1
            if self._text[self._at] == "[":
                yield self._header(), line, True
            else:
                yield tuple(self._key()), line, False
                self._at += 1  # the equals sign
                self._value()

    def _header(self) -> Path:
        double = self._text.startswith("[[", self._at)
        self._at += 2 if double else 1
        keys = self._key()
        self._at += 2 if double else 1
        path: Path = ()
        for index, key in enumerate(keys):
            path += (key,)
            if double and index == len(keys) - 1:
                self._counts[path] = self._counts.get(path, 0) + 1
            if path in self._counts:
                path += (self._counts[path] - 1,)
        return path

    def _key(self) -> list[str]:
        """Reads a dotted key."""
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            match = _PART.match(self._text, self._at)
            assert match is not None, "the parser has accepted it"
            self._at = match.end()
            keys.append(_bare(match[0]))
            if self._skip(_SPACE) >= len(self._text) or self._text[self._at] != ".":
                return keys
            self._at += 1

    def _value(self) -> None:
        """Skips a value, up to the end of its line or of the text."""
        depth = 0
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in "\"'":
                self._skip(_QUOTED)
            elif character == "#":
                self._at = _end_of_line(self._text, self._at)
            elif character == "\n" and not depth:
                return
            elif character in "[{":
                depth += 1
                self._at += 1
            elif character in "]}":
                depth -= 1
                self._at += 1
            elif character == "\n":
                self._at += 1
            else:
                self._skip(_PLAIN)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        """Skips what matches here, and returns where that is."""
        if match := pattern.match(self._text, self._at):
            self._at = match.end()
        return self._at


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _bare(key: str) -> str:
    """A key without its quotes."""
    if key[0] not in "\"'":
        return key
    import tomllib

    return next(iter(tomllib.loads(f"{key} = 0")))
