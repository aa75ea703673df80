"""A value with its file and line, so that every error names both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NoReturn

from reshardctl.config.lines import Path
from reshardctl.errors import UsageError
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import parse_instant

MEND = "mend it there, then: reshardctl config check"


@dataclass(frozen=True, slots=True)
class Spot:
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
