"""`Lineage`: the shards of one stream and how they descend from each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

from reshardctl.lineage.breaches import Breach, breaches
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
from reshardctl.lineage.kept import (
    Children,
    Closed,
    Names,
    Number,
    Open,
    Opened,
    Parents,
    Shards,
)
from reshardctl.lineage.links import Links, out_of_order, parents_first
from reshardctl.model import Shard, ShardId, Stream, decode, index_of


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

    @cached_property
    def _unlisted_parents(self) -> dict[ShardId, tuple[ShardId, ...]]:
        columns = self._columns
        if not len(columns.unlisted):
            return {}
        pairs = enumerate(zip(columns.parent, columns.adjacent, strict=True))
        return {
            self._names.name(row): tuple(
                ShardId(columns.name(parent)) for parent in pair if parent < NOBODY
            )
            for row, pair in pairs if min(pair) < NOBODY
        }

    def _finish(self, stream: Stream, columns: Columns) -> None:
        self.stream = stream
        self._columns = columns
        self._links = Links(columns)
        self._opened = columns.end.absent()
        self._order = parents_first(columns, self._links) if out_of_order(columns) else None
        self._names = Names(columns)
        self._parents = Parents(columns, self._names)
        self._children = Children(columns, self._names, self._links)
        self._shards = Shards(columns, self._names)
        self._first_number = Number(columns, self._names, columns.start)
        self._last_number = Number(columns, self._names, columns.end)
        self._opened_at = Opened(columns, self._names)
        self._is_open = Open(columns, self._names)
        self._closed_at = Closed(columns, self._names, self._opened_at, self._children)
        self._answers: dict[str, dict[ShardId, Any]] = {}
        self.taken: Mapping[int, bool] = {}
        self.foreign_epochs: frozenset[int] = frozenset()

    def as_of(
        self, now: float, taken: Mapping[int, bool] | None = None, born: Iterable[int] = (),
    ) -> Lineage:
        """The same lineage, as of that time (Unix seconds).

        Args:
            now: The time.
            taken: Sequence number → whether Kinesis takes it in the shard that it names, for
                numbers that Kinesis was asked about; `None` to keep what is known.
            born: Epochs in which other streams are known to have given out numbers.
        """
        told = self.taken if taken is None else taken
        foreign = self.foreign_epochs if taken is None else _foreign_epochs(told, born)
        known = (self.stream.as_of, self.taken, self.foreign_epochs)
        if known == (now, told, foreign):
            return self
        new = copy(self)
        new.stream = replace(self.stream, as_of=now)
        new.taken, new.foreign_epochs = told, foreign
        new._answers = {}
        return new

    def answers(self, question: str) -> dict[ShardId, Any]:
        """Where a pure function of this lineage keeps what it answered last for each shard."""
        return self._answers.setdefault(question, {})

    def __len__(self) -> int:
        return len(self._columns.ids)

    def __iter__(self) -> Iterator[ShardId]:
        names = self._names.all()
        return iter(names) if self._order is None else map(names.__getitem__, self._order)

    def __reversed__(self) -> Iterator[ShardId]:
        names = self._names.all()
        return reversed(names) if self._order is None else map(
            names.__getitem__, reversed(self._order)
        )

    def __contains__(self, shard: object) -> bool:
        if self._names.rows:
            return shard in self._names.rows
        return isinstance(shard, str) and self._names.row(shard) != NOBODY

    def __getitem__(self, shard: ShardId) -> Shard:
        return self._shards[shard]

    def parents(self, shard: ShardId) -> tuple[ShardId, ...]:
        """The shard's listed parents; a shard that is not listed has none."""
        return self._parents[shard]

    def first_parent(self, shard: ShardId) -> ShardId | None:
        """ParentShardId of the listing, listed or not; `None` for a shard without a parent."""
        return self._shards.first_parent(shard)

    def children(self, shard: ShardId) -> tuple[ShardId, ...]:
        """Listed children in id order, of listed and of unlisted shards alike."""
        return self._children[shard]

    def ancestors(self, shard: ShardId) -> set[ShardId]:
        """All listed ancestors of the shard."""
        return _reached(shard, self._parents)

    def descendants(self, shard: ShardId) -> set[ShardId]:
        """All listed descendants of the shard."""
        return _reached(shard, self._children)

    def open_shards(self) -> Iterator[ShardId]:
        """Ids of the open shards, in id order."""
        return map(self._names.name, self._opened)

    def open_count(self) -> int:
        """The number of open shards."""
        return len(self._opened)

    def is_open(self, shard: ShardId) -> bool:
        """Whether the shard is open, without making a `Shard`."""
        return self._is_open[shard]

    def first_number(self, shard: ShardId) -> int | None:
        """The shard's StartingSequenceNumber, without making a `Shard`; see `last_number`."""
        return self._first_number[shard]

    def last_number(self, shard: ShardId) -> int | None:
        """The shard's EndingSequenceNumber; `None` while it is open, and for what is no number."""
        return self._last_number[shard]

    def unlisted_parents(self, shard: ShardId) -> tuple[ShardId, ...]:
        """The parents that the listing names of the shard and does not list; mostly none."""
        return self._unlisted_parents.get(shard, ())

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
        return self._opened_at[shard]

    def closed_at(self, shard: ShardId) -> float | None:
        """Unix second in which the shard closed, from its EndingSequenceNumber; `None` while open.

        If that cannot be decoded (emulators), the first start of a child is taken.
        """
        return self._closed_at[shard]

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


def _foreign_epochs(taken: Mapping[int, bool], born: Iterable[int]) -> frozenset[int]:
    """The epochs of other streams' numbers: of refused ones, without those of taken ones."""
    refused = _epochs(number for number, told in taken.items() if not told)
    return (refused | set(born)) - _epochs(number for number, told in taken.items() if told)


def _epochs(numbers: Iterable[int]) -> frozenset[int]:
    """The epochs of sequence numbers."""
    return frozenset(fields.epoch for n in numbers if (fields := decode(n)) is not None)


def _reached(shard: ShardId, step: Mapping[str, tuple[ShardId, ...]]) -> set[ShardId]:
    """All shards that repeated steps lead to."""
    seen: set[ShardId] = set()
    todo = list(step[shard])
    while todo:
        if (near := todo.pop()) not in seen:
            seen.add(near)
            todo += step[near]
    return seen
