"""Rows as read, the writes to them, and the rows after the writes.

A row's attributes are DynamoDB JSON ({"S": "…"}, {"N": "7"}, {"SS": […]}); sets are kept sorted so
that equal rows are equal values.

Where a store has several tables, a row's key in its image says which of them holds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from itertools import takewhile
from typing import Any, TypeVar

from msgspec import Struct

_SETS = frozenset({"SS", "NS", "BS"})
_WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)
LONG = 2**63 - 1
DIGITS = 38
"""Significant digits of a number in DynamoDB."""
_EXACT = Context(prec=2 * DIGITS)
Item = TypeVar("Item")
AttributeValue = Mapping[str, Any]
Attributes = Mapping[str, AttributeValue]


class Image(Struct, frozen=True):
    """One stored row exactly as read."""

    key: str
    attributes: Attributes


class SideTable(Struct, frozen=True):
    """Another table of the same application, read if it exists and never written.

    Its rows become images with the key `<name>/<key>`. key: its partition key. rows: the keys to
    ask for; none means all.
    """

    name: str
    key: str
    rows: tuple[str, ...] = ()


class Create(Struct, frozen=True):
    """Creates a row; the key must be absent."""

    attributes: Attributes


class Update(Struct, frozen=True):
    """Sets and removes named attributes of an existing row; every other attribute stays as it is.

    add: how much each counter grows; an absent counter counts from 0.
    """

    set: Attributes
    remove: tuple[str, ...] = ()
    add: Mapping[str, int] | None = None


class Delete(Struct, frozen=True):
    """Deletes the whole row."""


Change = Create | Update | Delete


class Write(Struct, frozen=True):
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


class Step(Struct, frozen=True):
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


def writes_by_row(steps: Iterable[Step]) -> dict[str, list[Write]]:
    """The writes of each row, by its key, in order."""
    chains: dict[str, list[Write]] = {}
    for write in writes_of(steps):
        chains.setdefault(write.key, []).append(write)
    return chains


def keys_of(steps: Iterable[Step]) -> set[str]:
    """The keys of the rows that these steps write."""
    return {write.key for write in writes_of(steps)}


def ahead(steps: Iterable[Step]) -> list[Step]:
    """The steps before the first one that waits for the consumer."""
    return list(takewhile(lambda step: not step.barrier, steps))


OTHER_COLUMNS = "other columns"
"""Attribute of a row in a relational database, a map: the columns that its library does not use.
The database may fill them by itself; they are kept so that a deleted row can be put back whole."""
ENDS = "time to live ends"
"""Attribute of a row that goes by itself: when, in Unix milliseconds."""
SAME_KEY = "rows of the same key"
"""Attribute of such a row where no unique key forbids further ones of its key, a map: how many
there are (`count`), and what positions the next few have (`next`). Its library takes the first that
the server gives: the row itself."""

UNGUARDED = "no write is guarded"
"""Attribute of every row of a table in which no write can be guarded: why, one of the next two."""
NO_UNIQUE_KEY, NO_TRANSACTIONS = "no unique key", "no transactions"


@dataclass(frozen=True, slots=True)
class TableShape:
    """One table of a store. All parts of a key are strings.

    name: of the table. prefix: of the image keys of its rows ("checkpoints/"), "" if the store is
    this table alone. hash, range: the attributes of its key; no range: a simple one. fixed: the
    only hash value whose rows belong to the store: they are queried by it, and the table is not
    scanned. holds: what its rows are, for messages. heads: attribute of the key → how all values
    that a consumer asks for begin, for databases that take other spellings for equal.

    An image's key is the prefix and the hash value; with a range, `HASH/RANGE` after the prefix, in
    which a slash of the hash value is %2F and its percent sign %25.
    """

    name: str
    prefix: str = ""
    hash: str = "leaseKey"
    range: str | None = None
    fixed: str | None = None
    holds: str = "leases"
    heads: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.fixed is not None and self.range is None:
            raise ValueError(f"table {self.name}: a hash value alone is one row")

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes of the table's key."""
        return (self.hash,) if self.range is None else (self.hash, self.range)

    def image_key(self, hash_value: str, range_value: str = "") -> str:
        """The image key of the row with this key."""
        if self.range is None:
            return self.prefix + hash_value
        return f"{self.prefix}{_quoted(hash_value)}/{range_value}"

    def parts(self, image_key: str) -> dict[str, str]:
        """Key attribute → value. ValueError for an image of another table."""
        rest = image_key.removeprefix(self.prefix)
        if not image_key.startswith(self.prefix):
            raise ValueError(f"{image_key}: no row of table {self.name}")
        if self.range is None:
            return {self.hash: rest}
        quoted, slash, range_value = rest.partition("/")
        value = _plain(quoted)
        if not slash or self.fixed not in (None, value):
            raise ValueError(f"{image_key}: no row of table {self.name}")
        return {self.hash: value, self.range: range_value}


def table_of(tables: Sequence[TableShape], image_key: str) -> TableShape:
    """The table that an image belongs to. ValueError if there is none."""
    for table in tables:
        if image_key.startswith(table.prefix):
            return table
    raise ValueError(f"{image_key}: no row of {', '.join(table.name for table in tables)}")


def check(tables: Sequence[TableShape]) -> None:
    """Raises ValueError if an image's key would not identify its table."""
    for table in tables:
        for other in tables:
            if table is not other and other.prefix.startswith(table.prefix):
                raise ValueError(f"tables {table.name} and {other.name} have keys in common")
    if not tables:
        raise ValueError("a store has at least one table")


def _quoted(value: str) -> str:
    return value.replace("%", "%25").replace("/", "%2F")


def _plain(value: str) -> str:
    return value.replace("%2F", "/").replace("%25", "%")


def batched(items: Sequence[Item], size: int) -> Iterator[tuple[Item, ...]]:
    """As `itertools.batched`, which Python has from 3.12 on."""
    return (tuple(items[at : at + size]) for at in range(0, len(items), size))
