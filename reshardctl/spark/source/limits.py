"""How many records of each shard a batch takes when it may take so many in all.

Shares go round: shards that had none last time come first, else the oldest in the lineage do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reshardctl.model import ShardId
from reshardctl.spark.source.tips import Found

ROUNDS = 4
"""How often what one shard left over is offered to the others."""
Count = Callable[[Mapping[ShardId, str | None], int], Mapping[ShardId, Found]]
"""Shards with the last number taken of each (`None`: none yet); how many more of each at most."""


@dataclass(slots=True)
class Shares:
    """Shares out triggers. `_served`: when each shard last had records, by trigger."""

    _served: dict[ShardId, int] = field(default_factory=dict)
    _trigger: int = 0

    def taken(self, shards: Sequence[ShardId], most: int, count: Count) -> Mapping[ShardId, Found]:
        """What is taken of each shard that was asked, of `most` records in all.

        shards: in the lineage's order. Of a shard the counts of all rounds are one `Found`.
        """
        self._trigger += 1
        waiting = sorted(shards, key=lambda shard: self._served.get(shard, 0))
        found: dict[ShardId, Found] = {}
        again = 0
        # All are asked before any round counts: shards in which nothing lies come first for ever.
        while waiting and most and again < ROUNDS:
            again += all(shard in found for shard in waiting)
            waiting, most = self._round(waiting, most, count, found)
        for shard, one in found.items():
            if one.count:
                self._served[shard] = self._trigger
        return found

    def _round(
        self, shards: Sequence[ShardId], most: int, count: Count, found: dict[ShardId, Found]
    ) -> tuple[list[ShardId], int]:
        """Those of which there may be more, and how many records are still to be taken."""
        share = max(1, most // len(shards))
        asked, hungry = shards[: most // share], list(shards[most // share :])
        numbers = {shard: found.get(shard, Found()).number for shard in asked}
        for shard, one in count(numbers, share).items():
            most -= one.count
            found[shard] = _joined(found.get(shard, Found()), one)
            if one.count >= share and not one.ended:
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
