"""The listing of a million shards, one column per field.

A page is split into columns and can then be dropped. Rows are in id order; what is not as Kinesis
writes it (other ids, other numbers, another order) is kept too, only less tightly.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import repeat
from typing import Any

from reshardctl.lineage.digits import Digits
from reshardctl.lineage.ids import NO_NUMBER, Runs, Texts, numbers_of
from reshardctl.model import Shard, index_of, shard_id
from reshardctl.model.batched import batched

RawShard = Mapping[str, Any]
"""One element of `Shards` as ListShards writes it in JSON."""

Fields = tuple[Sequence[str], ...]
"""Seven columns of a page: id, parent, adjacent parent, first and last hash key,
StartingSequenceNumber, EndingSequenceNumber; "" for what is absent."""

NOBODY = -1
_PIECE = 10_000
_AT_ONCE = 250
"""Rows converted together: few enough for their dicts to stay in a processor's cache."""


def fields_of(page: Sequence[RawShard]) -> Iterator[Fields]:
    """A page of ListShards as columns. KeyError or TypeError if it is malformed."""
    for some in batched(page, _AT_ONCE):
        hashes = [shard["HashKeyRange"] for shard in some]
        numbers = [shard["SequenceNumberRange"] for shard in some]
        yield (
            [shard["ShardId"] for shard in some],
            [shard.get("ParentShardId", "") for shard in some],
            [shard.get("AdjacentParentShardId", "") for shard in some],
            [shard["StartingHashKey"] for shard in hashes],
            [shard["EndingHashKey"] for shard in hashes],
            [shard["StartingSequenceNumber"] for shard in numbers],
            [shard.get("EndingSequenceNumber", "") for shard in numbers],
        )


def fields_of_shards(shards: Iterable[Shard]) -> Fields:
    """Shards as columns."""
    rows = [
        (s.id, s.parent or "", s.adjacent or "", str(s.hash_start), str(s.hash_end), s.start,
         s.end or "")
        for s in shards
    ]  # fmt: skip
    return tuple(zip(*rows, strict=True))


@dataclass(slots=True)
class Columns:
    """The columns of a listing.

    `parent` and `adjacent` hold rows, NOBODY, or -2, -3, ... for `unlisted`.

    mergers: the rows that have an adjacent parent.
    """

    ids: Runs | Texts
    unlisted: Texts
    parent: array[int]
    adjacent: array[int]
    mergers: array[int]
    low: Digits
    high: Digits
    start: Digits
    end: Digits

    def name(self, row: int) -> str:
        """The id of a row, or of an unlisted shard."""
        return self.unlisted.name(-2 - row) if row < NOBODY else self.ids.name(row)

    def row(self, shard: str) -> int:
        """The row of this id; NOBODY if the listing does not mention it."""
        if (row := self.ids.row(shard)) != NOBODY or not self.unlisted:
            return row
        row = self.unlisted.row(shard)
        return row if row == NOBODY else -2 - row

    def digest(self) -> bytes:
        """SHA-256 of all columns."""
        total = sha256(repr([*self.unlisted.names()]).encode())
        parts = (
            self.parent.tobytes(),
            self.adjacent.tobytes(),
            self.ids.exact(),
            *(column.exact() for column in (self.low, self.high, self.start, self.end)),
        )
        for part in parts:
            total.update(sha256(part).digest())
        return total.digest()


class Builder:
    """Collects pages: `add` any number of times, then `columns` once."""

    def __init__(self) -> None:
        self._runs = Runs()
        self._parents: array[int] = array("I")
        self._mergers: array[int] = array("I")
        self._adjacent: array[int] = array("I")
        self._texts: list[tuple[str, str, str]] | None = None
        self._low, self._high = Digits(40), Digits(40)
        self._start, self._end = Digits(56), Digits(56)

    def add(self, fields: Fields) -> None:
        """Adds one page's columns. ValueError for a hash key that is no number."""
        if not fields or not fields[0]:
            return
        ids, parents, adjacent, low, high, start, end = fields
        if self._texts is not None or not self._add_numbers(ids, parents, adjacent):
            self._add_texts(ids, parents, adjacent)
        self._low.extend_padded(low)
        self._high.extend_padded(high)
        self._start.extend(start)
        self._end.extend(end)

    def _add_numbers(
        self, ids: Sequence[str], parents: Sequence[str], adjacent: Sequence[str]
    ) -> bool:
        own, first = numbers_of(ids), numbers_of(parents)
        mergers = [row for row, neighbour in enumerate(adjacent) if neighbour]
        second = numbers_of(list(filter(None, adjacent))) if mergers else array("I")
        if own is None or first is None or second is None:
            return False
        before = len(self._runs)
        if not self._runs.extend(own):
            return False
        self._parents.extend(first)
        self._adjacent.extend(second)
        self._mergers.extend(map(before.__add__, mergers))
        return True

    def _add_texts(
        self, ids: Sequence[str], parents: Sequence[str], adjacent: Sequence[str]
    ) -> None:
        if self._texts is None:
            self._texts = list(self._written_out())
        self._texts.extend(zip(ids, parents, adjacent, strict=True))

    def _written_out(self) -> Iterator[tuple[str, str, str]]:
        """The ids that were added as numbers so far, as texts."""
        adjacent = dict(zip(self._mergers, map(shard_id, self._adjacent), strict=True))
        for row, (shard, parent) in enumerate(zip(self._runs.names(), self._parents, strict=True)):
            yield shard, "" if parent == NO_NUMBER else shard_id(parent), adjacent.get(row, "")

    def columns(self) -> Columns:
        """The finished listing. For a shard that was listed twice, the last one counts."""
        return self._from_numbers() if self._texts is None else self._from_texts(self._texts)

    def _from_numbers(self) -> Columns:
        unlisted: dict[str, int] = {}
        parent = self._rows_of(self._parents, unlisted)
        adjacent = array("i", repeat(NOBODY, len(self._runs)))
        rows = self._rows_of(self._adjacent, unlisted)
        for at, row in zip(self._mergers, rows, strict=True):
            adjacent[at] = row
        return Columns(
            self._runs, Texts(list(unlisted)), parent, adjacent, self._mergers,
            self._low, self._high, self._start, self._end,
        )  # fmt: skip

    def _rows_of(self, named: array[int], unlisted: dict[str, int]) -> array[int]:
        """One row per number, in pieces: a million rows as objects would be the peak of memory."""
        rows = array("i")
        for at in range(0, len(named), _PIECE):
            piece = named[at : at + _PIECE]
            of_piece = self._runs.rows_of(piece)
            if NOBODY in of_piece:
                self._name_unlisted(of_piece, piece, unlisted)
            rows.fromlist(of_piece)
        return rows

    @staticmethod
    def _name_unlisted(rows: list[int], named: array[int], known: dict[str, int]) -> None:
        """Replaces NOBODY where a parent is not listed."""
        at = -1
        for _ in range(rows.count(NOBODY)):
            at = rows.index(NOBODY, at + 1)
            if named[at] != NO_NUMBER:
                rows[at] = -2 - known.setdefault(shard_id(named[at]), len(known))

    def _from_texts(self, texts: list[tuple[str, str, str]]) -> Columns:
        last = {row_texts[0]: row for row, row_texts in enumerate(texts)}
        order = sorted(last, key=_id_order)
        rows = {shard: row for row, shard in enumerate(order)}
        unlisted: dict[str, int] = {}

        def row_of(shard: str) -> int:
            if not shard or shard in rows:
                return rows[shard] if shard else NOBODY
            return -2 - unlisted.setdefault(shard, len(unlisted))

        chosen = [last[shard] for shard in order]
        parent = array("i", [row_of(texts[at][1]) for at in chosen])
        adjacent = array("i", [row_of(texts[at][2]) for at in chosen])
        columns = (self._low, self._high, self._start, self._end)
        low, high, start, end = (column.chosen(chosen) for column in columns)
        mergers = array("I", [row for row, neighbour in enumerate(adjacent) if neighbour != NOBODY])
        return Columns(
            Texts(order), Texts(list(unlisted)), parent, adjacent, mergers, low, high, start, end
        )


def _id_order(shard: str) -> tuple[int, str]:
    """Ids without a number first, then by number: children have higher ids than their parents."""
    index = index_of(shard)
    return (-1 if index is None else index, shard)
