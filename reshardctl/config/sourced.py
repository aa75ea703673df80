"""A value with its file and line, so that every error names both.

The parser does not tell the line of a table or a key of TOML. So text that it has accepted is
scanned, and only keys, values and comments have to be told apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.errors import UsageError
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import parse_instant

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


MEND = "mend it there, then: reshardctl config check"


class Spot(Struct, frozen=True):
    """A value of the file. lines: of the whole file. value: as tomllib gives it."""

    file: str
    lines: Mapping[Path, int]
    path: Path
    value: Any

    @property
    def line(self) -> int:
        """The line of the value, or of the table that it is in."""
        for end in range(len(self.path), 0, -1):
            if self.path[:end] in self.lines:
                return self.lines[self.path[:end]]
        return 1

    @property
    def origin(self) -> str:
        """The words `reshardctl.toml:12`."""
        return f"{self.file}:{self.line}"

    def wrong(self, why: str, what_next: str = "") -> NoReturn:
        """Raises UsageError: file, line, key and reason."""
        where = f"{self.origin}: {_dotted(self.path)}" if self.path else self.file
        raise UsageError(f"{where}: {why}", what_next or MEND)

    def table(self, known: Iterable[str] | None = None, needed: Iterable[str] = ()) -> Spot:
        """This value, if it is a table with only such keys."""
        if not isinstance(self.value, dict):
            self.wrong(f"not a table but {_kind(self.value)}")
        names = list(known) if known is not None else None
        for key in self.value:
            if names is not None and key not in names:
                advice = did_you_mean(key, names, f"known are {', '.join(names)}")
                (self / key).wrong("unknown key", advice)
        for key in needed:
            if key not in self.value:
                self.wrong(f"{key} is missing")
        return self

    def members(self) -> Iterator[tuple[str, Spot]]:
        """The keys of a table, in the order of the file."""
        self.table()
        for key in self.value:
            yield key, self / key

    def elements(self) -> list[Spot]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            self.wrong(f"not a list but {_kind(self.value)}")
        return [
            replace(self, path=(*self.path, index), value=element)
            for index, element in enumerate(self.value)
        ]

    def has(self, key: str) -> bool:
        """Whether the table has the key."""
        return key in self.value

    def __truediv__(self, key: str) -> Spot:
        return replace(self, path=(*self.path, key), value=self.value.get(key))

    def string(self, empty: bool = False) -> str:
        """A text, on one line."""
        if not isinstance(self.value, str):
            self.wrong(f"not a string but {_kind(self.value)}")
        if not self.value.strip() and not empty:
            self.wrong("is empty")
        if not self.value.isprintable():
            self.wrong("has a control character in it")
        return self.value

    def boolean(self) -> bool:
        """`true` or `false`."""
        if not isinstance(self.value, bool):
            self.wrong(f"neither true nor false but {_kind(self.value)}")
        return self.value

    def one_of(self, choices: Collection[str]) -> str:
        """One of these choices."""
        word = self.string()
        if word not in choices:
            self.wrong(
                f"{word!r} is none of them",
                did_you_mean(word, choices, f"write {', '.join(choices)}"),
            )
        return word

    def moment(self) -> float:
        """A time with a zone, in Unix seconds; as TOML's own or as a string."""
        if isinstance(self.value, str):
            try:
                return parse_instant(self.value)
            except UsageError as error:
                self.wrong(error.what, error.next)
        if not isinstance(self.value, datetime):
            self.wrong(f"not a time but {_kind(self.value)}", "write it as 2026-09-22T09:14:00Z")
        if self.value.tzinfo is None:
            self.wrong(
                f"{self.value.isoformat()} has no zone", f"add one: {self.value.isoformat()}Z"
            )
        return self.value.timestamp()

    def end(self) -> tuple[float, str]:
        """The Unix second at which a day (in UTC) or a time with a zone is over.

        With it the day, as `2026-12-31`; `""` if the value is a time.
        """
        if isinstance(self.value, date) and not isinstance(self.value, datetime):
            over = datetime.combine(self.value + timedelta(days=1), time(), UTC).timestamp()
            return over, self.value.isoformat()
        return self.moment(), ""


def _dotted(path: Path) -> str:
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += f".{part}" if text else part
    return text


def _kind(value: object) -> str:
    if isinstance(value, datetime):
        return "a time"
    names = {
        dict: "a table", list: "a list", str: "a string", bool: "true or false", int: "a number",
        float: "a number", date: "a date", time: "a time of day",
    }
    return names.get(type(value), "nothing")
