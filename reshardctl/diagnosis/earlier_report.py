"""What an earlier report or snapshot showed of the same rows: evidence of what a store forgets.

KCL deletes finished leases, and starts children beside a parent whose lease is missing. Afterwards
both tables look the same; a look from before tells them apart.
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
    """Which rows it shows, whatever name they are called by."""
    return snapshot.lineage.stream.arn, frozenset(snapshot.store.items())


class Trace(Enum):
    """What became of a shard whose row is gone."""

    FINISHED = "its row was at its end"
    LOST = "its row was missing before its children were begun"
    STOOD = "its row stood somewhere in it"
    UNKNOWN = "nothing that tells"


@dataclass(frozen=True, slots=True)
class Earlier:
    """One look. taken: Unix seconds; positions: as the store spelled them, by shard."""

    taken: float
    positions: Mapping[ShardId, str]

    def trace(self, lineage: Lineage, shard: ShardId) -> Trace:
        """What it tells of a closed shard that has no row now."""
        raw, closed = self.positions.get(shard), lineage.closed_at(shard)
        was_closed = closed is not None and closed <= self.taken
        if raw is None:
            lost = was_closed and self._was_lost(lineage, shard)
            return Trace.LOST if lost else Trace.UNKNOWN
        if raw == ENDED:
            return Trace.FINISHED if was_closed else Trace.UNKNOWN
        return Trace.UNKNOWN if self.stood(shard) is None else Trace.STOOD

    def stood(self, shard: ShardId) -> Cut | None:
        """Where its row stood, if it says so: up to there it was read."""
        raw = self.positions.get(shard, "")
        if raw == FIRST:
            return START
        number, _, sub = raw.partition("/")
        known = is_number(number) and (sub == "" or sub.isdecimal())
        return at_number(number, int(sub or 0)) if known else None

    def _was_lost(self, lineage: Lineage, shard: ShardId) -> bool:
        """Whether it had no row, no unfinished ancestor would have made one, and none of its
        descendants was begun. An empty table tells nothing."""
        waits = any(
            self.positions[above] != ENDED
            for above in lineage.ancestors(shard) if above in self.positions
        )
        begun = any(map(self._begun, lineage.descendants(shard)))
        return bool(self.positions) and not waits and not begun

    def _begun(self, shard: ShardId) -> bool:
        return self.positions.get(shard, FIRST) != FIRST
