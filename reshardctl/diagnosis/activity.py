"""What a running consumer did while it was watched, from its rows before and after. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reshardctl.consumers.base import ShardOwner
from reshardctl.model import ShardId


@dataclass(frozen=True, slots=True)
class Movement:
    """One shard's row over the watch. owner: who holds it at the end, "" for nobody.

    renewed: its owner gave a sign of life, or another took it. moved: its position changed.
    """

    owner: str
    renewed: bool
    moved: bool
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Watched:
    """since, until: Unix seconds of the two looks. excluded: what silence over that time rules out,
    in words. shards: every row of a shard that was there at the end. elsewhere: whether any
    row at all gave a sign of life, such as a worker's own, a lock, or another stream's."""

    since: float
    until: float
    excluded: str
    shards: Mapping[ShardId, Movement]
    elsewhere: bool = False

    @property
    def seconds(self) -> float:
        """How long it was watched."""
        return self.until - self.since

    @property
    def runs(self) -> bool:
        """Whether anything of it gave a sign of life."""
        return self.elsewhere or any(one.renewed for one in self.shards.values())


def watched(
    before: Mapping[ShardId, ShardOwner],
    after: Mapping[ShardId, ShardOwner],
    since: float,
    until: float,
    excluded: str,
    elsewhere: bool = False,
) -> Watched:
    """Two looks compared. A row that is new was made meanwhile: somebody runs."""
    return Watched(since, until, excluded, {
        shard: _movement(before.get(shard), hold) for shard, hold in after.items()
    }, elsewhere)


def _movement(before: ShardOwner | None, after: ShardOwner) -> Movement:
    if before is None:
        return Movement(after.owner, True, True, after.finished)
    sign = (before.owner, before.sign) != (after.owner, after.sign) and bool(after.owner)
    moved = before.position != after.position
    return Movement(after.owner, sign or moved, moved, after.finished)
