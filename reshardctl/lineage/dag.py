"""`Lineage`: the shards of one stream and how they descend from each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace

from reshardctl.lineage.breaches import Breach, breaches, hash_range
from reshardctl.lineage.columns import (
    NOBODY,
    Builder,
    Columns,
    Fields,
    RawShard,
    fields_of,
    fields_of_shards,
)
from reshardctl.lineage.ids import Runs
from reshardctl.lineage.links import Links, out_of_order, parents_first
from reshardctl.model import Shard, ShardId, Stream, index_of, time_of


class Lineage:
    """All listed shards of one stream. Iterates over ids, parents before children.

    Every look-up by id costs the same at ten shards as at a million. KeyError for a shard that is
    not listed, except where a method says otherwise.
    """

    def __init__(self, stream: Stream, shards: Iterable[Shard]) -> None:
        builder = Builder()
        builder.add(fields_of_shards(shards))
        self._finish(stream, builder.columns())

    @classmethod
    def from_pages(cls, stream: Stream, pages: Iterable[Sequence[RawShard]]) -> Lineage:
        """Reads pages of ListShards as its JSON has them, one at a time.

        KeyError, TypeError or ValueError if one is malformed.
        """
        return cls.from_fields(stream, (fields for page in pages for fields in fields_of(page)))

    @classmethod
    def from_fields(cls, stream: Stream, pages: Iterable[Fields]) -> Lineage:
        """Reads pages of ListShards that are columns already."""
        builder = Builder()
        for fields in pages:
            builder.add(fields)
        new = cls.__new__(cls)
        new._finish(stream, builder.columns())
        return new

    def _finish(self, stream: Stream, columns: Columns) -> None:
        self.stream = stream
        self._columns = columns
        self._links = Links(columns)
        self._opened = columns.end.absent()
        self._order = parents_first(columns, self._links) if out_of_order(columns) else None

    def as_of(self, now: float) -> Lineage:
        """The same lineage, as of that time (Unix seconds)."""
        if self.stream.as_of == now:
            return self
        new = copy(self)
        new.stream = replace(self.stream, as_of=now)
        return new

    def __len__(self) -> int:
        return len(self._columns.ids)

    def __iter__(self) -> Iterator[ShardId]:
        ids = self._columns.ids
        return ids.names() if self._order is None else map(ids.name, self._order)

    def __contains__(self, shard: object) -> bool:
        return isinstance(shard, str) and self._columns.ids.row(shard) != NOBODY

    def __getitem__(self, shard: ShardId) -> Shard:
        row = self._row(shard)
        columns = self._columns
        low, high = hash_range(columns, row)
        return Shard(
            shard,
            self._name(columns.parent[row]),
            self._name(columns.adjacent[row]),
            low,
            high,
            columns.start[row],
            columns.end[row] or None,
        )

    def parents(self, shard: ShardId) -> tuple[ShardId, ...]:
        """The shard's listed parents; a shard that is not listed has none."""
        row = self._columns.ids.row(shard)
        return tuple(map(self._columns.ids.name, self._parent_rows(row)))

    def children(self, shard: ShardId) -> tuple[ShardId, ...]:
        """Listed children in id order, of listed and of unlisted shards alike."""
        row = self._columns.row(shard)
        return tuple(map(self._columns.ids.name, self._child_rows(row)))

    def ancestors(self, shard: ShardId) -> set[ShardId]:
        """All listed ancestors of the shard."""
        return self._reach(shard, self._parent_rows)

    def descendants(self, shard: ShardId) -> set[ShardId]:
        """All listed descendants of the shard."""
        return self._reach(shard, self._child_rows)

    def open_shards(self) -> Iterator[ShardId]:
        """Ids of the open shards, in id order."""
        return map(self._columns.ids.name, self._opened)

    def open_count(self) -> int:
        """The number of open shards."""
        return len(self._opened)

    def is_open(self, shard: ShardId) -> bool:
        """Whether the shard is open, without making a `Shard`."""
        return self._columns.end.is_absent(self._row(shard))

    def roots(self) -> Iterator[ShardId]:
        """Listed shards without a listed parent, which are readable at the trim horizon."""
        columns = self._columns
        rows = range(len(columns.ids)) if self._order is None else self._order
        return (
            columns.ids.name(row)
            for row in rows
            if columns.parent[row] < 0 and columns.adjacent[row] < 0
        )

    def opened_at(self, shard: ShardId) -> float | None:
        """Unix second in which the shard opened, from its StartingSequenceNumber."""
        return time_of(self._columns.start[self._row(shard)])

    def closed_at(self, shard: ShardId) -> float | None:
        """Unix second in which the shard closed, from its EndingSequenceNumber; `None` while open.

        If that cannot be decoded (emulators), the first start of a child is taken.
        """
        end = self._columns.end[self._row(shard)]
        if not end:
            return None
        if (decoded := time_of(end)) is not None:
            return decoded
        starts = (self.opened_at(child) for child in self.children(shard))
        return min((start for start in starts if start is not None), default=None)

    def newest_index(self) -> int:
        """The highest shard index listed, -1 if none; a higher one does not exist yet."""
        ids = self._columns.ids
        if isinstance(ids, Runs):
            return ids.number(len(ids) - 1) if len(ids) else -1
        return max((i for shard in ids.names() if (i := index_of(shard)) is not None), default=-1)

    def breaches(self) -> list[Breach]:
        """Every way in which the listing contradicts itself; none for a stream at rest."""
        return breaches(self._columns, self._links, self._opened)

    def digest(self) -> bytes:
        """SHA-256 of the listing: equal for equal listings, within one release of this program."""
        return self._columns.digest()

    def _row(self, shard: ShardId) -> int:
        row = self._columns.ids.row(shard)
        if row == NOBODY:
            raise KeyError(shard)
        return row

    def _name(self, row: int) -> ShardId | None:
        return None if row == NOBODY else ShardId(self._columns.name(row))

    def _parent_rows(self, row: int) -> list[int]:
        if row < 0:
            return []
        pair = (self._columns.parent[row], self._columns.adjacent[row])
        return [parent for parent in pair if parent >= 0]

    def _child_rows(self, row: int) -> list[int]:
        return [] if row == NOBODY else self._links.children(row)

    def _reach(self, shard: ShardId, step: Callable[[int], list[int]]) -> set[ShardId]:
        seen: set[int] = set()
        todo = step(self._columns.row(shard))
        while todo:
            if (row := todo.pop()) not in seen:
                seen.add(row)
                todo += step(row)
        return set(map(self._columns.ids.name, seen))
