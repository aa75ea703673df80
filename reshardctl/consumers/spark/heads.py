"""Shards whose first records a query passed by: begun at a time after their birth.

Under startingPosition LATEST (or a time) a shard that turns up begins at the time at which the
driver started. For one that was born while the query was down that is later than its birth, and
what came between is never read, however well the query goes on (runs of Qubole's jar, awslabs 1.4.2
and 0f4c005, November 2026: s3 after its restart).
"""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.cuts import cut_of
from reshardctl.lineage import Lineage
from reshardctl.model import START, ShardId
from reshardctl.model.times import instant


@dataclass(frozen=True, slots=True)
class Head:
    """born, begun: Unix seconds. Records that arrived between them were never read."""

    born: float
    begun: float

    @property
    def why(self) -> str:
        """In words."""
        return (
            f"begun at {instant(self.begun)}, {self.begun - self.born:g} s after its birth: what "
            "came before was never read"
        )


def passed_by(lineage: Lineage, checkpoint: Checkpoint) -> dict[ShardId, Head]:
    """Listed shards that turned up while the query existed, and that no batch has begun at their
    beginning. What the very first batch names began with the query itself."""
    oldest = next(iter(checkpoint.batches.values()), None)
    old = oldest.positions if oldest is not None else {}
    found: dict[ShardId, Head] = {}
    whole: set[ShardId] = set()
    for batch in checkpoint.batches.values():
        for shard, position in batch.positions.items():
            if shard in old or shard in whole or shard not in lineage:
                continue
            born, cut = lineage.opened_at(shard), cut_of(position)
            if cut == START or (born is not None and cut.time is not None and cut.time <= born):
                whole.add(shard)
            elif shard not in found and born is not None and cut.time is not None:
                found[shard] = Head(born, cut.time)
    return {shard: head for shard, head in found.items() if shard not in whole}
