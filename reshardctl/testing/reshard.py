"""Reshards as steps: what SplitShard, MergeShards and UpdateShardCount do to the open shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reshardctl.testing.hashspace import boundaries


@dataclass(frozen=True, slots=True)
class Split:
    """Close `parent`; the upper of its two children starts at hash key `at`."""

    parent: int
    at: int


@dataclass(frozen=True, slots=True)
class Merge:
    """Close both; `parent` becomes ParentShardId and `adjacent` AdjacentParentShardId."""

    parent: int
    adjacent: int


Step = Split | Merge


@dataclass(frozen=True, slots=True)
class Piece:
    """An open shard as the planner sees it; `low` and `high` are inclusive hash keys."""

    number: int
    low: int
    high: int


def uniform_steps(pieces: Sequence[Piece], target: int, free: int) -> list[Step]:
    """The steps from the open shards to `target` equal ones, new shards numbered from `free`.

    Walks the hash space upwards: cut the shard that crosses the next edge, then merge what lies
    below it, so that shards of a few seconds appear in between. 4 -> 3 gives exactly the recorded
    answer of AWS (risingwave#9961): split 1, merge 0+4, split 2, merge 5+7, merge 8+3.
    """
    waiting = sorted(pieces, key=lambda piece: piece.low, reverse=True)
    steps: list[Step] = []
    for edge in boundaries(target)[1:]:
        below: Piece | None = None
        while waiting and waiting[-1].low < edge:
            piece = waiting.pop()
            if piece.high >= edge:
                steps.append(Split(piece.number, edge))
                waiting.append(Piece(free + 1, edge, piece.high))
                piece = Piece(free, piece.low, edge - 1)
                free += 2
            if below is not None:
                steps.append(Merge(below.number, piece.number))
                piece = Piece(free, below.low, piece.high)
                free += 1
            below = piece
    return steps


def doubling_steps(pieces: Sequence[Piece]) -> list[Step]:
    """Split every open shard in half, as on-demand streams grow."""
    ordered = sorted(pieces, key=lambda piece: piece.low)
    return [Split(piece.number, (piece.low + piece.high + 1) // 2) for piece in ordered]
