"""The part of a consumer that a plan may write, and what the plan writes beyond the selection."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.model import ShardId
from reshardctl.planning.effects import Effect


@dataclass(frozen=True, slots=True)
class Scope:
    """Shards that a plan may write.

    whole: whether an effect on the whole consumer, as a crash is, concerns this part too.
    """

    shards: frozenset[ShardId]
    whole: bool = True

    @property
    def empty(self) -> bool:
        """Whether nothing is selected."""
        return not self.shards and not self.whole

    def concerns(self, effect: Effect) -> bool:
        """Whether the effect is one of these shards, or comes from one of them."""
        if effect.shard is None and self.whole:
            return True
        return effect.shard in self.shards or not self.shards.isdisjoint(effect.by)


@dataclass(frozen=True, slots=True)
class Added:
    """A shard that a plan writes although it was not selected, with the reason."""

    shard: ShardId
    why: str
