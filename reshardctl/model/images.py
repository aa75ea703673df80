"""Rows as read, the writes to them, and the rows after the writes.

A row's attributes are DynamoDB JSON ({"S": "…"}, {"N": "7"}, {"SS": […]}); sets are kept sorted so
that equal rows are equal values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import takewhile
from typing import Any

_SETS = frozenset({"SS", "NS", "BS"})
_WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)
LONG = 2**63 - 1
DIGITS = 38
"""Significant digits of a number in DynamoDB."""
_EXACT = Context(prec=2 * DIGITS)
AttributeValue = Mapping[str, Any]
Attributes = Mapping[str, AttributeValue]


@dataclass(frozen=True, slots=True)
class Image:
    """One stored row exactly as read."""

    key: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class SideTable:
    """Another table of the same application, read if it exists and never written.

    Its rows become images with the key `<name>/<key>`. key: its partition key. rows: the keys to
    ask for; none means all.
    """

    name: str
    key: str
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Create:
    """Creates a row; the key must be absent."""

    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Update:
    """Sets and removes named attributes of an existing row; every other attribute stays as it is.

    add: how much each counter grows; an absent counter counts from 0.
    """

    set: Attributes
    remove: tuple[str, ...] = ()
    add: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletes the whole row."""


Change = Create | Update | Delete


@dataclass(frozen=True, slots=True)
class Write:
    """One guarded change of one row.

    before: the row as read, `None` if absent. guard: the attributes that must still be as in
    `before`, absent ones absent. why: for people. live: safe while the consumer runs; running: the
    reason, in words ("" if that was not examined).
    """

    key: str
    change: Change
    before: Image | None
    why: str
    guard: tuple[str, ...] = ()
    live: bool = False
    running: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """Writes that belong together: one transaction if the store has transactions.

    For stores without them the writes are ordered so that no prefix leaves the consumer worse off.
    barrier: the key of a row that the consumer itself has to write before this step; "" for none.
    """

    title: str
    writes: tuple[Write, ...]
    barrier: str = ""


def canonical(attributes: Attributes) -> dict[str, AttributeValue]:
    """The same attributes with names and set members in a fixed order."""
    return {name: _sorted_sets(attributes[name]) for name in sorted(attributes)}


def _sorted_sets(value: AttributeValue) -> AttributeValue:
    ((kind, body),) = value.items()
    return {kind: sorted(body)} if kind in _SETS else value


def changed(image: Image | None, write: Write) -> Image | None:
    """The row after the write, `None` if the write deletes it."""
    match write.change:
        case Create(attributes):
            return Image(write.key, canonical(attributes))
        case Delete():
            return None
        case Update(values, remove, add):
            row = dict(image.attributes) if image else {}
            row.update(values)
            for name in remove:
                row.pop(name, None)
            for name, step in (add or {}).items():
                row[name] = _grown(row.get(name, {"N": "0"}), step)
            return Image(write.key, canonical(row))


def counted(value: AttributeValue) -> bool:
    """Whether a counter is a whole number that a consumer can read and count on (Java's long)."""
    text = value.get("N", "")
    return bool(_WHOLE.fullmatch(text)) and -LONG <= int(text) < LONG


def _grown(value: AttributeValue, step: int) -> AttributeValue:
    """A counter that has grown, exactly as a store adds; what is no number stays as it is."""
    try:
        grown = _EXACT.add(Decimal(value["N"]), Decimal(step))
    except (KeyError, ArithmeticError):
        return value
    return {"N": f"{grown:f}" if abs(grown.adjusted()) <= DIGITS else str(grown)}


def after(images: Iterable[Image], steps: Iterable[Step]) -> list[Image]:
    """All rows after every step, in key order."""
    rows = {image.key: image for image in images}
    for write in writes_of(steps):
        result = changed(rows.get(write.key), write)
        if result is None:
            rows.pop(write.key, None)
        else:
            rows[write.key] = result
    return [rows[key] for key in sorted(rows)]


def writes_of(steps: Iterable[Step]) -> list[Write]:
    """Every write of these steps, in order."""
    return [write for step in steps for write in step.writes]


def keys_of(steps: Iterable[Step]) -> set[str]:
    """The keys of the rows that these steps write."""
    return {write.key for write in writes_of(steps)}


def ahead(steps: Iterable[Step]) -> list[Step]:
    """The steps before the first one that waits for the consumer."""
    return list(takewhile(lambda step: not step.barrier, steps))
