"""What the rows of one store prove together: which shards were read, which are younger.

Nothing marks a shard as finished. But the library starts a shard only once its parents have been
read to their end (allgroup.go), so a record's number in a row proves that its ancestors were
processed.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.kinesis_consumer.rows import Positions, Row
from reshardctl.consumers.sequence_numbers import NumberKind, classify, earlier_incarnation
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, decode, shard_id, time_of


def evidence(lineage: Lineage, positions: Positions) -> Evidence:
    """What the rows prove together, computed once for a store and a listing."""
    return positions.once("evidence", (lineage,), lambda: Evidence(lineage, positions))


class Evidence:
    """See `evidence`."""

    def __init__(self, lineage: Lineage, positions: Positions) -> None:
        self._lineage, self._positions = lineage, positions
        self.kinds = {shard: classify(lineage, shard, row.text) for shard, row in self._rows()}
        self._lost = self._numbers_elsewhere()
        self._below_read: dict[ShardId, bool] = {}
        self._below_row: dict[ShardId, bool] = {}
        for shard in reversed(list(lineage)):
            self._look_below(shard)
        for shard, _ in self._rows():
            if shard not in lineage:
                self._look_below(shard)
        times = [t for t in map(self._time, self._rows()) if t is not None]
        self._oldest = min(times, default=None)
        opened = [t for t in map(lineage.opened_at, lineage) if t is not None]
        self._newest = max([*times, *opened], default=0.0)

    def read(self, shard: ShardId) -> bool:
        """Whether its row, or another shard's, holds the number of one of its records."""
        return self.kinds.get(shard) is NumberKind.INSIDE or self.own_number(shard) != ""

    def read_below(self, shard: ShardId) -> bool:
        """Whether a listed descendant was read."""
        return self._below_read.get(shard, False)

    def row_below(self, shard: ShardId) -> bool:
        """Whether a listed descendant has a row, whatever it holds."""
        return self._below_row.get(shard, False)

    def ran_before(self, shard: ShardId) -> bool:
        """Whether a record older than the shard was read: the application ran at its creation."""
        opened = self._lineage.opened_at(shard) if shard in self._lineage else None
        return opened is not None and self._oldest is not None and self._oldest < opened

    def expired(self, shard: ShardId) -> bool:
        """Whether the shard's first records have expired by the time of some number."""
        opened = self._lineage.opened_at(shard)
        return opened is not None and opened + self._lineage.stream.retention < self._newest

    def own_number(self, shard: ShardId) -> str:
        """The number of this shard that another shard's row holds, if the two rows were swapped.

        "" otherwise: a number of this shard in its own row proves nothing.
        """
        numbers, kind = self._lost.get(shard, {}), self.kinds.get(shard)
        if len(numbers) != 1 or kind is None or not kind.foreign:
            return ""
        ((row_shard, number),) = numbers.items()
        decoded = decode(self._positions.rows[shard].text)
        return number if decoded is not None and shard_id(decoded.shard) == row_shard else ""

    def _rows(self) -> Iterator[tuple[ShardId, Row]]:
        return iter(self._positions.rows.items())

    def _look_below(self, shard: ShardId) -> None:
        children = self._lineage.children(shard)
        self._below_read[shard] = any(self.read(c) or self._below_read[c] for c in children)
        rows = self._positions.rows
        self._below_row[shard] = any(c in rows or self._below_row[c] for c in children)

    def _time(self, entry: tuple[ShardId, Row]) -> int | None:
        """A time at which the application existed: a read record's, or the shard's start or end."""
        shard, row = entry
        own = self.kinds[shard].own
        there = own and not earlier_incarnation(self._lineage, row.text)
        return time_of(row.text) if there else None

    def _numbers_elsewhere(self) -> dict[ShardId, dict[ShardId, str]]:
        """Numbers in other shards' rows: shard of the number → shard of the row → number."""
        numbers: dict[ShardId, dict[ShardId, str]] = {}
        for shard, row in self._rows():
            decoded = decode(row.text) if self.kinds[shard].foreign else None
            home = shard_id(decoded.shard) if decoded else shard
            if home != shard and classify(self._lineage, home, row.text) is NumberKind.INSIDE:
                numbers.setdefault(home, {})[shard] = row.text
        return numbers
