"""Positions in an earlier report or snapshot of the same rows, which a store has deleted since.

KCL deletes finished leases, and starts children beside a parent whose lease is missing. Afterwards
both tables look the same; an earlier one distinguishes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.lineage import Lineage
from reshardctl.model import START, Cut, ShardId, at_number, is_number

Whose = tuple[str, frozenset[tuple[str, str]]]
"""A stream's ARN and a store's identity."""
ENDED, FIRST = "SHARD_END", "TRIM_HORIZON"


def whose(snapshot: Snapshot) -> Whose:
    """Identity of the rows, whatever name they have in the report."""
    return snapshot.lineage.stream.arn, frozenset(snapshot.store.items())


class Trace(Enum):
    """What happened to a shard whose row is gone."""

    FINISHED = "its row was at its end"
    LOST = "its row was missing before its children were begun"
    STOOD = "its row stood somewhere in it"
    UNKNOWN = "nothing that tells"


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier reading. taken: Unix seconds; positions: as the store spelled them, by shard."""

    taken: float
    positions: Mapping[ShardId, str]

    def trace(self, lineage: Lineage, shard: ShardId) -> Trace:
        """What it shows of a closed shard that has no row now."""
        raw, closed = self.positions.get(shard), lineage.closed_at(shard)
        was_closed = closed is not None and closed <= self.taken
        if raw is None:
            lost = was_closed and self._was_lost(lineage, shard)
            return Trace.LOST if lost else Trace.UNKNOWN
        if raw == ENDED:
            return Trace.FINISHED if was_closed else Trace.UNKNOWN
        return Trace.UNKNOWN if self.stood(shard) is None else Trace.STOOD

    def stood(self, shard: ShardId) -> Cut | None:
        """Its row's cut, if known; up to there the shard was read."""
        raw = self.positions.get(shard, "")
        if raw == FIRST:
            return START
        number, _, sub = raw.partition("/")
        known = is_number(number) and (sub == "" or sub.isdecimal())
        return at_number(number, int(sub or 0)) if known else None

    def _was_lost(self, lineage: Lineage, shard: ShardId) -> bool:
        """Whether it had no row and was to get none, and no descendant had begun.

        An unfinished ancestor would have created its row. An empty table proves nothing.
        """
        waits = any(
            self.positions[above] != ENDED
            for above in lineage.ancestors(shard) if above in self.positions
        )
        begun = any(map(self._begun, lineage.descendants(shard)))
        return bool(self.positions) and not waits and not begun

    def _begun(self, shard: ShardId) -> bool:
        return self.positions.get(shard, FIRST) != FIRST
