"""What a running consumer did while it was watched, from its rows before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reshardctl.consumers.base import ShardOwner
from reshardctl.model import ShardId


@dataclass(frozen=True, slots=True)
class Movement:
    """What changed in one shard's row during the watch.

    owner: its owner at the end, "" for nobody. renewed: whether its owner gave a sign of life, or
    another took it. moved: whether its position changed.
    """

    owner: str
    renewed: bool
    moved: bool
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Watched:
    """A watch.

    since, until: Unix seconds of the two readings. excluded: what no change over that time rules
    out, as text. shards: every shard's row that existed at the end. elsewhere: whether any other
    row gave a sign of life, such as a worker's, a lock, or another stream's. positions: Unix second
    in the position of each shard at the first reading, where it has one.
    """

    since: float
    until: float
    excluded: str
    shards: Mapping[ShardId, Movement]
    elsewhere: bool = False
    positions: Mapping[ShardId, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Length of the watch."""
        return self.until - self.since

    @property
    def runs(self) -> bool:
        """Whether anything of it gave a sign of life."""
        return self.elsewhere or any(shard.renewed for shard in self.shards.values())


def watched(
    before: Mapping[ShardId, ShardOwner],
    after: Mapping[ShardId, ShardOwner],
    since: float,
    until: float,
    excluded: str,
    elsewhere: bool = False,
) -> Watched:
    """Compares two readings; a row that is new was created by a running worker."""
    return Watched(since, until, excluded, {
        shard: _movement(before.get(shard), hold) for shard, hold in after.items()
    }, elsewhere)


def _movement(before: ShardOwner | None, after: ShardOwner) -> Movement:
    if before is None:
        return Movement(after.owner, True, True, after.finished)
    sign = (before.owner, before.sign) != (after.owner, after.sign) and bool(after.owner)
    moved = before.position != after.position
    return Movement(after.owner, sign or moved, moved, after.finished)
