"""The records of an answer as columns, split at its quotes instead of parsed.

The records of one answer are alike but for their values: what the first one looks like tells where
the others have theirs. Everything between the values is compared, so what is not alike (another
order, a field more or less, a blank, an escaped character) is left to the JSON parser. This takes
less time than that parser does, and makes no dictionary a record.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

NUMBER, ARRIVED, DATA, KEY = FIELDS = (
    "SequenceNumber", "ApproximateArrivalTimestamp", "Data", "PartitionKey"
)  # fmt: skip
_START = b'"Records":['
_BETWEEN = b'},{"'
"""Where a record ends; or a text, which `_split` then takes for no end."""
_PART = 1 << 18
"""Bytes that are split at once: so much stays in a processor's cache, and its memory is used again
by the next part instead of being asked of the system for every page."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Columns(Sequence[Row]):
    """Records, each a dictionary as the JSON of the wire has it once it is asked for.

    The lists are of one length; their texts are UTF-8 as it was sent.
    """

    numbers: list[bytes]
    arrived: list[bytes]
    """Unix seconds as JSON spells them."""
    data: list[bytes]
    """In base64."""
    keys: list[bytes]

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Columns: ...

    def __getitem__(self, place: int | slice) -> Row | Columns:
        columns = (self.numbers, self.arrived, self.data, self.keys)
        if isinstance(place, slice):
            return Columns(*(column[place] for column in columns))
        number, arrived, data, key = (str(column[place], "utf-8") for column in columns)
        return dict(zip(FIELDS, (number, float(arrived), data, key), strict=True))


def scan(body: bytes) -> tuple[Columns, dict[str, Any]] | None:
    """The records of an answer, and its other members; `None` if it is for the JSON parser."""
    start = body.find(_START) + len(_START)
    layout = None if start < len(_START) or b"\\" in body else _layout(body, start)
    if layout is None:
        return None
    found: tuple[list[bytes], ...] = ([], [], [], [])
    at = start
    while at:
        stop = body.find(_BETWEEN, at + _PART) + 1
        end = stop or body.find(b'"}]', at) + 2
        if not _split(body[at:end], layout, found):
            return None
        at = stop and stop + 1
    try:
        others = json.loads(body[:start] + body[end:])
        json.loads(body[:start] + b"]}")  # else these are the Records of something within
    except ValueError:
        return None
    return Columns(*found), others


class _Layout(NamedTuple):
    """What each record is split into."""

    wide: int
    """Tokens a record."""
    fixed: list[tuple[int, bytes]]
    """The places of names and of what is between, alike in all records."""
    values: list[int]
    """The places of FIELDS."""


def _layout(body: bytes, start: int) -> _Layout | None:
    """As the first record has it; `None` if its members are others than are known here.

    A text has four tokens: its name, a colon, itself, what follows. The time has its name, and all
    up to the next one's quote.
    """
    try:
        first = json.loads(body[start : body.find(b"}", start) + 1])
        arrived = type(first[ARRIVED])
    except (ValueError, LookupError, TypeError):
        return None
    texts = [name for name, value in first.items() if isinstance(value, str)]
    if arrived not in (float, int) or len(texts) != len(first) - 1 or list(first)[-1] == ARRIVED:
        return None
    at, fixed, values = 1, [], {}
    for name in first:
        fixed.append((at, name.encode()))
        values[name] = at + 1
        if name != ARRIVED:
            fixed += [(at + 1, b":"), (at + 3, b",")]
            values[name] = at + 2
        at += 2 if name == ARRIVED else 4
    if not values.keys() >= set(FIELDS):
        return None
    return _Layout(at - 1, fixed[:-1], [values[name] for name in FIELDS])


def _split(part: bytes, layout: _Layout, found: tuple[list[bytes], ...]) -> bool:
    """Add the values of a part, which ends with a record; whether it is all as laid out."""
    tokens, wide = part.split(b'"'), layout.wide
    count, odd = divmod(len(tokens) - 1, wide)
    ends = tokens[wide::wide]
    if odd or not count or tokens[0] != b"{" or ends.pop() != b"}":
        return False
    if ends.count(b"},{") != count - 1:
        return False
    if any(tokens[at::wide].count(token) != count for at, token in layout.fixed):
        return False
    numbers, arrived, data, keys = (tokens[at::wide] for at in layout.values)
    spelled = b"".join(arrived)  # such as `:1795232277.123,:1795232278,`
    moments = spelled[1:-1].split(b",:")
    if len(moments) != count or spelled.translate(None, b"0123456789.:,"):
        return False
    for column, values in zip(found, (numbers, moments, data, keys), strict=True):
        column += values
    return True
