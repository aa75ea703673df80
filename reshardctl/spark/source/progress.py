"""How far the query is behind, per shard, for the progress of 4.2 and later, and for the log."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.source.losses import Loss, stands_for
from reshardctl.spark.source.offset import Offset, OffsetPosition

LOG = logging.getLogger("reshardctl.spark.source")


@dataclass(slots=True)
class Progress:
    """What the driver saw when it planned the newest batch. behind: milliseconds a shard."""

    behind: dict[ShardId, int] = field(default_factory=dict)
    lost: int = 0
    _told: set[Loss] = field(default_factory=set)

    def lose(self, losses: Iterable[Loss], stream: str) -> None:
        """Log each loss once, and count it."""
        for loss in losses:
            if loss not in self._told:
                self._told.add(loss)
                self.lost += 1
                LOG.warning("stream %s: %s (failOnDataLoss is false)", stream, loss.why)

    def unasked(
        self, lineage: Lineage, shard: ShardId, position: OffsetPosition, now: float
    ) -> None:
        """Estimates the delay of a shard that is read to an end or a goal without being asked."""
        then = stands_for(position) or lineage.opened_at(shard)
        self.behind[shard] = 0 if then is None else max(0, round(1000 * (now - then)))

    def planned(self, offset: Offset, changed: bool) -> None:
        """A batch up to this offset was planned, or none is needed."""
        unfinished = {s for s, position in offset.shards.items() if not position.end}
        for shard in self.behind.keys() - offset.shards.keys():
            del self.behind[shard]
        if changed:
            LOG.info(
                "stream %s: a batch up to %d unfinished of %d shards, at most %d ms behind",
                offset.stream, len(unfinished), len(offset.shards), self.most,
            )  # fmt: skip

    @property
    def most(self) -> int:
        """Milliseconds that the query was behind in the worst shard."""
        return max(self.behind.values(), default=0)

    def report(self) -> dict[str, Any] | None:
        """The latestOffset in a query's progress; `None` before the first batch."""
        if not self.behind:
            return None
        return {
            "millisBehindLatest": {shard: self.behind[shard] for shard in sorted(self.behind)},
            "maxMillisBehindLatest": self.most,
            "losses": self.lost,
        }
