"""The tables of a store: how a row's key becomes the key of its image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
