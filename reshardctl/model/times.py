"""Durations and times as operators write and read them: Unix seconds inside, UTC outside."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from msgspec import Struct

from reshardctl.errors import UsageError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST = 3650 * _UNITS["d"]
"""Ten times the longest retention of a stream, in seconds."""
_FIRST = datetime.min.replace(tzinfo=UTC).timestamp()
_LAST = datetime.max.replace(tzinfo=UTC, microsecond=0).timestamp()
_UNIX = re.compile(r"\d{10}(?:\.\d+)?", re.ASCII)
"""Unix seconds of the years 2001 to 2286: milliseconds have more digits."""
_MILLISECONDS = re.compile(r"\d{13}", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])", re.ASCII)


class When(Struct, frozen=True):
    """A time as an operator names it.

    text: as written. at: Unix seconds. ago: seconds before the moment of use. reshard: the moment
    of the stream's newest reshard.
    """

    text: str
    at: float | None = None
    ago: float | None = None
    reshard: bool = False


def parse_when(text: str, option: str = "") -> When:
    """Reads `2026-09-22T09:14:00Z`, Unix seconds, `-90m` or `@reshard`.

    Raises UsageError, which names the option.
    """
    if text == "@reshard":
        return When(text, reshard=True)
    if text.startswith("-"):
        return When(text, ago=parse_seconds(text[1:], option))
    try:
        return When(text, at=parse_instant(text, option))
    except UsageError as error:
        other = f"{error.next}; or -90m, or @reshard for the newest reshard"
        raise UsageError(error.what, other) from None


def parse_seconds(text: str, option: str = "") -> float:
    """Reads `90s`, `15m`, `3h`, `1h30m`, `2d`; refuses a bare number.

    Raises UsageError, which names the option.
    """
    given = _given(text, option)
    if not re.fullmatch(rf"(?:{_PART.pattern})+", text, re.ASCII):
        raise UsageError(f"{given} is no duration", "write it as 90s, 15m, 3h or 1h30m")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    if seconds > LONGEST:
        raise UsageError(f"{given} is longer than any retention", "give at most 3650d")
    return seconds


def parse_instant(text: str, option: str = "") -> float:
    """Reads ISO 8601 with a zone, or Unix seconds, into Unix seconds.

    The AWS CLI prints times as the first in version 2, and as the second (`1790068440.0`) in
    version 1. A naive time raises UsageError, which names the option.
    """
    given = _given(text, option)
    if _UNIX.fullmatch(text):
        return float(text)
    if _MILLISECONDS.fullmatch(text):
        seconds = f"{text[:10]}.{text[10:]}".rstrip("0").rstrip(".")
        raise UsageError(f"{given} is in milliseconds", f"write it in Unix seconds: {seconds}")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{given} is no time", "write it as 2026-09-22T09:14:00Z, or in Unix seconds"
        ) from None
    if moment.tzinfo is None:
        zoned = f"{moment.isoformat()}Z"  # a day alone takes no zone
        raise UsageError(f"{given} has no zone", f"add one: {zoned} for UTC")
    return moment.timestamp()


def _given(text: str, option: str) -> str:
    return f"{option}: {text!r}" if option else repr(text)


def instant(seconds: float) -> str:
    """Formats Unix seconds as `2026-09-22T09:14:00Z`."""
    return f"{in_utc(seconds).replace(tzinfo=None).isoformat()}Z"


def in_utc(seconds: float) -> datetime:
    """The whole second in UTC; beyond the years 1 to 9999, the first or the last one.

    A store may hold microseconds where milliseconds are read.
    """
    return datetime.fromtimestamp(int(min(max(seconds, _FIRST), _LAST)), UTC)


def duration(seconds: float) -> str:
    """Formats seconds in the two largest units: `3h41m`, `12m`, `45s`, `2d4h`, `1h`."""
    sizes = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
    left = int(abs(seconds))
    first = next((n for n, (_, size) in enumerate(sizes) if left >= size), len(sizes) - 1)
    text = ""
    for unit, size in sizes[first : first + 2]:
        count, left = divmod(left, size)
        if count or not text:
            text += f"{count}{unit}"
    return ("-" if seconds <= -1 else "") + text


def same_second(typed: float, stored: float) -> bool:
    """Whether two Unix times are within a second: printed times have no fractions."""
    return abs(typed - stored) <= 1.0
