"""Shards whose first records a query skipped: begun at a time after their creation.

Under startingPosition LATEST (or a time), a new shard begins at the time at which the driver
started. For a shard created while the query was down, records between its creation and that time
are never read (runs of Qubole's jar, awslabs 1.4.2 and 0f4c005, November 2026: s3 after its
restart).
"""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.cuts import cut_of
from reshardctl.consumers.spark.lines.on_demand import same_shards
from reshardctl.lineage import Lineage
from reshardctl.model import START, ShardId
from reshardctl.model.times import instant


@dataclass(frozen=True, slots=True)
class Head:
    """A skipped interval, in Unix seconds from `born` to `begun`."""

    born: float
    begun: float

    @property
    def why(self) -> str:
        """The reason, as text."""
        return (
            f"begun at {instant(self.begun)}, {self.begun - self.born:g} s after its creation: "
            "what came before was never read"
        )


def passed_by(lineage: Lineage, checkpoint: Checkpoint) -> dict[ShardId, Head]:
    """Listed shards that appeared after the query's first batch and never began at their start."""
    return checkpoint.once("passed by", (lineage,), lambda: _passed_by(lineage, checkpoint))


def _passed_by(lineage: Lineage, checkpoint: Checkpoint) -> dict[ShardId, Head]:
    oldest = next(iter(checkpoint.batches.values()), None)
    heads: dict[ShardId, Head] = {}
    whole: set[ShardId] = set()
    passed = set(oldest.positions) if oldest is not None else set()
    """Shards of the oldest batch, those that began at their start, and those not listed."""
    before, left = oldest, False
    for batch in checkpoint.batches.values():
        if before is not None and not left and same_shards(batch.positions, before.positions):
            continue
        for shard in sorted(batch.positions.keys() - passed):
            if shard not in lineage:
                passed.add(shard)
                continue
            position = batch.positions[shard]
            born, cut = lineage.opened_at(shard), cut_of(position)
            if cut == START or (born is not None and cut.time is not None and cut.time <= born):
                whole.add(shard)
                passed.add(shard)
            elif shard not in heads and born is not None and cut.time is not None:
                heads[shard] = Head(born, cut.time)
        before, left = batch, not batch.positions.keys() <= passed
    return {shard: head for shard, head in heads.items() if shard not in whole}
