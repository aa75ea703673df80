"""Divides a batch's limit of records among the shards.

In turns: shards that had no records last time come first, then the oldest in the lineage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reshardctl.model import ShardId
from reshardctl.spark.source.tips import Found

ROUNDS = 4
"""How often the rest of a share is offered to the other shards."""
Count = Callable[[Mapping[ShardId, str | None], int], Mapping[ShardId, Found]]
"""Shards with the last number taken of each (`None`: none yet), and the limit for each; returns
what was taken."""


@dataclass(slots=True)
class Shares:
    """Divides the records of triggers. _served: when each shard last had records, by trigger."""

    _served: dict[ShardId, int] = field(default_factory=dict)
    _trigger: int = 0

    def taken(self, shards: Sequence[ShardId], most: int, count: Count) -> Mapping[ShardId, Found]:
        """What is taken of each shard that was asked, of `most` records in all.

        shards: in the lineage's order. The counts of all rounds of a shard are one `Found`.
        """
        self._trigger += 1
        waiting = sorted(shards, key=lambda shard: self._served.get(shard, 0))
        taken_by_shard: dict[ShardId, Found] = {}
        again = 0
        # All are asked before any round counts, because empty shards always come first.
        while waiting and most and again < ROUNDS:
            again += all(shard in taken_by_shard for shard in waiting)
            waiting, most = self._round(waiting, most, count, taken_by_shard)
        for shard, taken in taken_by_shard.items():
            if taken.count:
                self._served[shard] = self._trigger
        return taken_by_shard

    def _round(
        self, shards: Sequence[ShardId], most: int, count: Count, taken: dict[ShardId, Found]
    ) -> tuple[list[ShardId], int]:
        """One round; returns shards that may have more, and the number of records still allowed."""
        share = max(1, most // len(shards))
        asked, hungry = shards[: most // share], list(shards[most // share :])
        numbers = {shard: taken.get(shard, Found()).number for shard in asked}
        for shard, counted in count(numbers, share).items():
            most -= counted.count
            taken[shard] = _joined(taken.get(shard, Found()), counted)
            if counted.count >= share and not counted.ended:
                hungry.append(shard)
        return hungry, most


def _joined(before: Found, then: Found) -> Found:
    return Found(
        then.number or before.number,
        before.behind or then.behind,
        then.quiet,
        then.ended,
        before.count + then.count,
    )
