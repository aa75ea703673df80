"""What the rows of one store prove together: which shards were read, which are younger.

Nothing marks a shard as finished. But the library starts a shard only once its parents have been
read to their end (allgroup.go), so a record's number in a row proves that its ancestors were
processed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from reshardctl.consumers.kinesis_consumer.rows import Positions, Row, read, text_of
from reshardctl.consumers.kinesis_consumer.tables import NAMESPACE
from reshardctl.consumers.sequence_numbers import CREATION_SLACK, NumberKind, classify
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, Span, at_number, decode, exactly, shard_id, time_of


def evidence(lineage: Lineage, positions: Positions) -> Evidence:
    """What the rows prove together, computed once for a store and a listing."""
    return positions.once("evidence", (lineage,), lambda: Evidence(lineage, positions))


class Evidence:
    """See `evidence`."""

    def __init__(self, lineage: Lineage, positions: Positions) -> None:
        self._lineage, self._positions = lineage, positions
        self.kinds = {shard: classify(lineage, shard, row.text) for shard, row in self._rows()}
        self._lost = self._numbers_elsewhere()
        self._below_read: set[ShardId] = set()
        self._below_row: set[ShardId] = set()
        for shard in reversed(lineage):
            self._prove_above(shard)
        self._meant = {self.meant(shard) for shard, _ in self._rows()} - {""}
        self._times = [t for t in map(self._time, self._rows()) if t is not None]
        self._oldest = min(self._times, default=None)
        self._spans: dict[ShardId, Span] = {}

    def read(self, shard: ShardId) -> bool:
        """Whether its row, or the one that it was swapped with, tells one of its records."""
        return self.kinds.get(shard) is NumberKind.INSIDE or self.meant(shard) != ""

    def read_below(self, shard: ShardId) -> bool:
        """Whether a listed descendant was read."""
        return shard in self._below_read

    def row_below(self, shard: ShardId) -> bool:
        """Whether a listed descendant has a row, whatever it holds."""
        return shard in self._below_row

    def ran_before(self, shard: ShardId) -> bool:
        """Whether a record older than the shard was read: the application ran at its creation."""
        opened = self._lineage.opened_at(shard) if shard in self._lineage else None
        return opened is not None and self.ran_at(opened)

    def ran_at(self, time: float) -> bool:
        """Whether a record older than this time was read."""
        return self._oldest is not None and self._oldest < time

    def expired(self, shard: ShardId) -> bool:
        """Whether the shard's first records have expired by the time of some number."""
        opened = self._lineage.opened_at(shard)
        return opened is not None and opened + self._lineage.stream.retention < self._newest

    @cached_property
    def _newest(self) -> float:
        """The latest time that a number of a row or of the listing shows."""
        opened = (t for t in map(self._lineage.opened_at, self._lineage) if t is not None)
        return max(chain(self._times, opened), default=0.0)

    def at_row(self, shard: ShardId) -> Span:
        """The span that ends with the record whose number its row holds."""
        if (known := self._spans.get(shard)) is None:
            text = self._positions.rows[shard].text
            known = self._spans[shard] = exactly(at_number(text))
        return known

    def meant(self, shard: ShardId) -> str:
        """The number of a record that is meant by a row that is none of its shard, "" without one.

        It is in the row with which that one was swapped, or between blanks, or follows zeros.
        """
        row = self._positions.rows.get(shard)
        if row is None or self.kinds[shard].own:
            return ""
        bare = row.bare if row.bare != row.text else ""
        inside = bare and classify(self._lineage, shard, bare) is NumberKind.INSIDE
        return bare if inside else self.own_number(shard)

    def own_number(self, shard: ShardId) -> str:
        """The number of this shard that another shard's row holds, if the two rows were swapped.

        "" otherwise: a number of this shard that stands in another row alone proves nothing.
        """
        numbers, kind = self._lost.get(shard, {}), self.kinds.get(shard)
        if len(numbers) != 1 or kind is None or not kind.foreign:
            return ""
        ((row_shard, number),) = numbers.items()
        its_own = classify(self._lineage, row_shard, self._positions.rows[shard].text).own
        return number if its_own else ""

    def elsewhere(self, shard: ShardId) -> str:
        """The furthest number of this shard in another row of the application, "" without one.

        That is another shard's row, or one whose key is no shard's. It may have been copied there,
        so it proves nothing; but the shard may have been read to it.
        """
        numbers = chain(self._lost.get(shard, {}).values(), self._set_aside.get(shard, ()))
        return max(numbers, key=int, default="")

    @cached_property
    def _set_aside(self) -> dict[ShardId, list[str]]:
        """Numbers in rows of the application whose key is no shard's, such as a copy's."""
        numbers: dict[ShardId, list[str]] = {}
        space = self._positions.namespace
        own = (row for row in self._positions.others if text_of(row, NAMESPACE) == space)
        for text in (read(row.attributes) for row in own):
            decoded = decode(text)
            home = shard_id(decoded.shard) if decoded else None
            if home and classify(self._lineage, home, text) is NumberKind.INSIDE:
                numbers.setdefault(home, []).append(text)
        return numbers

    def _rows(self) -> Iterator[tuple[ShardId, Row]]:
        return iter(self._positions.rows.items())

    def _prove_above(self, shard: ShardId) -> None:
        """Notes what a listed shard proves of its parents; those below it have been looked at."""
        parents = (*self._lineage.parents(shard), *self._lineage.unlisted_parents(shard))
        if shard in self._below_read or self.read(shard):
            self._below_read.update(parents)
        if shard in self._below_row or shard in self._positions.rows:
            self._below_row.update(parents)

    def _time(self, entry: tuple[ShardId, Row]) -> int | None:
        """A time at which the application existed: a read record's, or the shard's end.

        A shard's own start is no record's number: a repair writes it, at any time.
        """
        shard, row = entry
        told = self.kinds[shard] in (NumberKind.INSIDE, NumberKind.AT_END)
        time = time_of(row.bare) if told or row.bare in self._meant else None
        since = self._lineage.stream.created - CREATION_SLACK
        return None if time is None or time < since else time

    def _numbers_elsewhere(self) -> dict[ShardId, dict[ShardId, str]]:
        """Numbers in other shards' rows: shard of the number → shard of the row → number."""
        numbers: dict[ShardId, dict[ShardId, str]] = {}
        for shard, row in self._rows():
            decoded = decode(row.text) if self.kinds[shard].foreign else None
            home = shard_id(decoded.shard) if decoded else shard
            if home != shard and classify(self._lineage, home, row.text) is NumberKind.INSIDE:
                numbers.setdefault(home, {})[shard] = row.text
        return numbers
