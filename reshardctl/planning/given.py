"""Positions that the operator gives, as they were asked for."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.model import Basis, Cut, ShardId


@dataclass(frozen=True, slots=True)
class GivenPosition:
    """One shard's position as the operator gives it.

    where: the file and its line or entry, or the option. cut: `None` where the file says that the
    stored text names no place. basis, text: as in `StoredPosition` (stored_positions.py).
    """

    where: str
    shard: ShardId
    cut: Cut | None
    basis: Basis = Basis.STORED
    text: str | None = None


@dataclass(frozen=True, slots=True)
class GivenPositions:
    """What was asked for. back: seconds by which every position is to be moved back.

    arn, created: the stream that the positions are of, if their source names it. whole: they are
    all positions of an earlier time, in which shards may be named that have expired since.
    """

    positions: tuple[GivenPosition, ...] = ()
    back: float | None = None
    arn: str | None = None
    created: float | None = None
    whole: bool = False
    source: str = ""
