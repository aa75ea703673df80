"""The records of an answer as columns, split at its quotes instead of parsed.

The records of one answer are alike but for their values: what the first one looks like tells where
the others have theirs. The names of all are compared, so what is not alike (another order, a
field more or less, an escaped character) is left to the JSON parser. This takes less time than that
parser does, and makes no dictionary a record.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

NUMBER, ARRIVED, DATA, KEY = FIELDS = (
    "SequenceNumber", "ApproximateArrivalTimestamp", "Data", "PartitionKey"
)  # fmt: skip
_START = b'"Records":['

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
    wide, names, places = layout
    tokens = body[start:].split(b'"')
    ends = tokens[wide::wide]
    count = next((at for at in range(len(ends), 0, -1) if ends[at - 1].startswith(b"}]")), 0)
    stop = count * wide
    # In valid JSON the names alone tell what lies between them, and where a record ends.
    if not count or any(tokens[at:stop:wide].count(tokens[at]) != count for at in names):
        return None
    numbers, arrived, data, keys = (tokens[at:stop:wide] for at in places)
    arrived = [one[1:-1] for one in arrived]  # from `:1795232277.123,`
    if b"null" in arrived:
        return None
    try:
        others = json.loads(body[: start - 1] + b"[]" + b'"'.join(tokens[stop:])[2:])
    except ValueError:
        return None
    return Columns(numbers, arrived, data, keys), others


def _layout(body: bytes, start: int) -> tuple[int, list[int], list[int]] | None:
    """How many tokens the first record has; which are its members' names, and which its values.

    A text has four: its name, what is between, itself, what follows; any other value has two.
    """
    try:
        first = json.loads(body[start : body.find(b"}", start) + 1])
        kinds = [type(first[name]) for name in FIELDS]
    except (ValueError, LookupError, TypeError):
        return None
    if kinds not in ([str, float, str, str], [str, int, str, str]):
        return None
    at, names = 1, {}
    for name, value in first.items():
        names[name] = at
        at += 4 if isinstance(value, str) else 2
    numbers, arrived, data, keys = (names[name] for name in FIELDS)
    return at - 1, list(names.values()), [numbers + 2, arrived + 1, data + 2, keys + 2]
