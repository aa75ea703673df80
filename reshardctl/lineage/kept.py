"""Answers about a listing by shard id, each found once and kept.

One question about a million shards must not cost an index of them, and a judgement asks twenty
about each of a hundred thousand. So a first answer comes from the columns; once the shards have
been iterated over, or many of them were asked for, their ids are kept, and what every judgement
asks is answered for all of them together.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from reshardctl.lineage.breaches import hash_range
from reshardctl.lineage.columns import NOBODY, Columns
from reshardctl.lineage.digits import Digits
from reshardctl.lineage.links import Links
from reshardctl.model import Shard, ShardId, time_of

Family = tuple[ShardId, ...]
V = TypeVar("V")
MANY = 16
"""So many times fewer questions than there are shards pay for an index of all ids."""


class Names:
    """The ids of all rows, as one string object each once `all` was called."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._all: tuple[ShardId, ...] = ()
        self._asked = 0
        self.rows: dict[object, int] = {}
        """Row by id, once `all` was called."""

    def all(self) -> tuple[ShardId, ...]:
        """Every id, by row."""
        if not self._all:
            self._all = tuple(self._columns.ids.names())
            self.rows = {name: row for row, name in enumerate(self._all)}
        return self._all

    @property
    def known(self) -> bool:
        """Whether `all` was called."""
        return bool(self._all)

    def name(self, row: int) -> ShardId:
        """The id of a row."""
        return self._all[row] if self._all else self._columns.ids.name(row)

    def row(self, shard: str) -> int:
        """The row of an id, NOBODY if it is not listed."""
        if not self.rows:
            self._asked += 1
            if MANY * self._asked <= len(self._columns.ids):
                return self._columns.ids.row(shard)
            self.all()
        return self.rows.get(shard, NOBODY)

    def listed_row(self, shard: str) -> int:
        """The row of an id; KeyError if it is not listed."""
        if (row := self.row(shard)) == NOBODY:
            raise KeyError(shard)
        return row


class _Kept(dict[str, V], Generic[V]):
    """Answers by id; a missing one is found in the columns."""

    def __init__(self, columns: Columns, names: Names) -> None:
        super().__init__()
        self._columns, self._names = columns, names


class Parents(_Kept[Family]):
    """The listed parents of every id that was asked for; an unlisted shard has none."""

    def __missing__(self, shard: str) -> Family:
        if self._names.known and not self:
            self._fill()
            return self.get(shard, ())
        if (row := self._names.row(shard)) == NOBODY:
            return ()
        pair = (self._columns.parent[row], self._columns.adjacent[row])
        self[shard] = family = tuple(self._names.name(parent) for parent in pair if parent >= 0)
        return family

    def _fill(self) -> None:
        names, columns = self._names.all(), self._columns
        before = NOBODY
        only: Family = ()  # siblings follow one another and share their tuple
        for name, parent in zip(names, columns.parent, strict=True):
            if parent != before:
                before, only = parent, (names[parent],) if parent >= 0 else ()
            self[name] = only
        for row in columns.mergers:
            pair = (columns.parent[row], columns.adjacent[row])
            self[names[row]] = tuple(names[parent] for parent in pair if parent >= 0)


class Children(_Kept[Family]):
    """The listed children of every id that was asked for, of unlisted shards too."""

    def __init__(self, columns: Columns, names: Names, links: Links) -> None:
        super().__init__(columns, names)
        self._links = links

    def __missing__(self, shard: str) -> Family:
        if self._names.known and not self:
            self._fill()
            if (family := self.get(shard)) is not None:
                return family
        row = self._names.row(shard)
        if row == NOBODY and (row := self._columns.row(shard)) == NOBODY:
            return ()
        self[shard] = family = tuple(map(self._names.name, self._links.children(row)))
        return family

    def _fill(self) -> None:
        names, children = self._names.all(), self._links.children
        before: list[int] = []
        family: Family = ()  # the parents of a merge follow one another and share their tuple
        for row, name in enumerate(names):
            if (rows := children(row)) != before:
                before, family = rows, tuple(map(names.__getitem__, rows))
            self[name] = family


class Shards(_Kept[Shard]):
    """The `Shard` of every id that was asked for; KeyError for one that is not listed."""

    def __missing__(self, shard: str) -> Shard:
        row, columns = self._names.listed_row(shard), self._columns
        low, high = hash_range(columns, row)
        made = Shard(
            self._names.name(row), self._id(columns.parent[row]), self._id(columns.adjacent[row]),
            low, high, columns.start[row], columns.end[row] or None,
        )
        self[shard] = made
        return made

    def first_parent(self, shard: str) -> ShardId | None:
        """`Shard.parent`, without making one."""
        return self._id(self._columns.parent[self._names.listed_row(shard)])

    def _id(self, row: int) -> ShardId | None:
        if row == NOBODY:
            return None
        return self._names.name(row) if row >= 0 else ShardId(self._columns.name(row))


class Open(_Kept[bool]):
    """Whether each shard is open; KeyError for one that is not listed."""

    def __missing__(self, shard: str) -> bool:
        row, end = self._names.listed_row(shard), self._columns.end
        if self._names.known and not self:
            self.update(dict.fromkeys(self._names.all(), False))
            self.update((self._names.name(absent), True) for absent in end.absent())
            return self[shard]
        self[shard] = is_open = end.is_absent(row)
        return is_open


class Number(_Kept["int | None"]):
    """The first or the last sequence number of every id that was asked for, as the listing has it.

    `None` where it has none, or none that is a number. KeyError for an id that is not listed.
    """

    def __init__(self, columns: Columns, names: Names, texts: Digits) -> None:
        super().__init__(columns, names)
        self._texts = texts

    def __missing__(self, shard: str) -> int | None:
        text = self._texts[self._names.listed_row(shard)]
        self[shard] = number = int(text) if text.isdecimal() else None
        return number


class Opened(_Kept["int | None"]):
    """The Unix second in which each shard opened; see `Lineage.opened_at`."""

    def __missing__(self, shard: str) -> int | None:
        self[shard] = second = time_of(self._columns.start[self._names.listed_row(shard)])
        return second


class Closed(_Kept["int | None"]):
    """The Unix second in which each shard closed; see `Lineage.closed_at`."""

    def __init__(
        self, columns: Columns, names: Names, opened: Opened, children: Children
    ) -> None:
        super().__init__(columns, names)
        self._opened, self._children = opened, children

    def __missing__(self, shard: str) -> int | None:
        end = self._columns.end[self._names.listed_row(shard)]
        second = time_of(end) if end else None
        if end and second is None:
            starts = (self._opened[child] for child in self._children[shard])
            second = min((start for start in starts if start is not None), default=None)
        self[shard] = second
        return second
