"""What befalls the attributes of a DynamoDB row: by another program, a restore, a hand.

A damage takes dice and the rows by key; it changes them in place and says of which key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

Value = dict[str, Any]
Row = dict[str, Value]
Rows = dict[str, Row]

ODD_TEXTS = (
    "", " ", "null", "0", "-1", "x", "NaN", "1e5", "1.5", "SHARD_END ", "shard_end", "LATEST\n",
    "AT_TIMESTAMP", "TRIM_HORIZON\x00", "ü€\U0001f600", "\u202e9", "٣٤", "\x1b[2J", "9" * 5000,
    "x" * 300_000, "1" + "0" * 56, "[]", "{}", '{"a":', "shardId-000000000000", "shardId-",
    "shardId-999999999999999999999999", "a:b:c:d:e", "../../etc", "2026-13-45T99:00:00Z", "\ufeff1",
)  # fmt: skip
ODD_NUMBERS = (
    "0", "-1", "1.5", "-0", "1E125", "-9.9999999999999999999999999999999999999E+125", "1E-130",
    "99999999999999999999999999999999999999", "9223372036854775808", "2147483648", "253402300800",
    "253402300800000", "0.1",
)  # fmt: skip
ODD_VALUES: tuple[Value, ...] = (
    {"NULL": True}, {"BOOL": True}, {"BOOL": False}, {"L": []}, {"M": {}},
    {"B": b""}, {"B": b"\xff\x00"},
    {"SS": ["x"]}, {"SS": ["", "x"]}, {"NS": ["1"]}, {"BS": [b"\xff"]},
    {"L": [{"S": "x"}, {"N": "1"}]}, {"L": [{"L": [{"L": [{"L": [{"S": "x"}]}]}]}]},
    {"M": {"a": {"S": "x"}}}, {"SS": ["shardId-000000000000", "shardId-000000000000 "]},
    *({"S": text} for text in ODD_TEXTS), *({"N": number} for number in ODD_NUMBERS),
)  # fmt: skip
"""As boto3 takes them. DynamoDB holds no NaN, no lone surrogate, and no row above 400 KB."""


def attribute_lost(dice: Random, rows: Rows, apart: frozenset[str]) -> str:
    key, name = _attribute(dice, rows, apart)
    rows[key].pop(name, None)
    return key


def attribute_replaced(dice: Random, rows: Rows, apart: frozenset[str]) -> str:
    key, name = _attribute(dice, rows, apart)
    rows[key][name] = dice.choice(ODD_VALUES)
    return key


def another_type(dice: Random, rows: Rows, apart: frozenset[str]) -> str:
    """The same content in another type."""
    key, name = _attribute(dice, rows, apart)
    ((kind, body),) = rows[key][name].items()
    plain = body if isinstance(body, str) else str(body)
    digits = plain.lstrip("-").isascii() and plain.lstrip("-").isdigit() and len(plain) <= 38
    ways: list[Value] = [{"S": plain}, {"B": plain.encode()}, {"SS": [plain]}]
    if kind in ("S", "N"):
        ways += [{"L": [{kind: body}]}, {"M": {name: {kind: body}}}]
    if digits:
        ways += [{"N": plain}, {"NS": [plain]}]
    rows[key][name] = dice.choice(ways)
    return key


def attributes_of_another(dice: Random, rows: Rows, apart: frozenset[str]) -> str:
    """All attributes of another row, below its own key."""
    key, other = dice.choice(sorted(rows)), dice.choice(sorted(rows))
    rows[key] = {
        **{n: v for n, v in rows[other].items() if n not in apart},
        **{n: v for n, v in rows[key].items() if n in apart},
    }
    return key


def only_its_key(dice: Random, rows: Rows, apart: frozenset[str]) -> str:
    key = dice.choice(sorted(rows))
    rows[key] = {n: v for n, v in rows[key].items() if n in apart}
    return key


def attribute_of_all(dice: Random, rows: Rows, apart: frozenset[str]) -> str:
    """The same odd value in every row."""
    key, name = _attribute(dice, rows, apart)
    value = dice.choice(ODD_VALUES)
    for row in rows.values():
        if name in row:
            row[name] = value
    return key


def attribute_added(dice: Random, rows: Rows, apart: frozenset[str]) -> str:
    """An attribute that other rows have, or nobody knows."""
    key = dice.choice(sorted(rows))
    known = sorted({name for row in rows.values() for name in row} - apart)
    rows[key][dice.choice([*known, "x", "ü", "a.b", "#n", ":v"])] = dice.choice(ODD_VALUES)
    return key


def _attribute(dice: Random, rows: Rows, apart: frozenset[str]) -> tuple[str, str]:
    return dice.choice([
        (key, name) for key in sorted(rows) for name in sorted(rows[key]) if name not in apart
    ])


RowDamage = Callable[[Random, Rows, frozenset[str]], str]
ROW_DAMAGES: Mapping[str, tuple[RowDamage, float]] = {
    "an attribute lost": (attribute_lost, 3),
    "an attribute replaced": (attribute_replaced, 8),
    "another type": (another_type, 3),
    "another row's attributes": (attributes_of_another, 1),
    "only its key": (only_its_key, 1),
    "an attribute of all rows": (attribute_of_all, 2),
    "an attribute added": (attribute_added, 2),
}
"""By name, and how often."""


def damaged_rows(dice: Random, rows: Rows, apart: frozenset[str]) -> tuple[str, str, Rows]:
    """One damage: its name, the key of the row, the rows then.

    apart: the attributes of a row's key, which nothing can change.
    """
    while True:
        changed = {key: dict(row) for key, row in rows.items()}
        (name,) = dice.choices(list(ROW_DAMAGES), [weight for _, weight in ROW_DAMAGES.values()])
        key = ROW_DAMAGES[name][0](dice, changed, apart)
        if changed != rows:
            return name, key, changed
