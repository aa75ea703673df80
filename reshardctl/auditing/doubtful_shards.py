"""Decides which shards of a sink need a second look, from a summary of each. Pure.

A summary is an interval of numbers and one of orders (a batch id, a time of ingestion). Where the
intervals of a shard's batches do not overlap, and shards came in the order in which they lived, no
row can come after a later one of its key, and none has to be moved to show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Life:
    """A shard's creation, and its last record in the sink.

    Both are Unix seconds, or numbers where these do not tell the time.
    """

    born: int
    ended: int


@dataclass(frozen=True, slots=True)
class Orders:
    """The least and the greatest order of a shard's rows.

    overlaps: how many of its batches hold numbers that do not lie between those of the batches
    before and after.
    """

    first: Any
    last: Any
    overlaps: int = 0


@dataclass(frozen=True, slots=True)
class Crossing:
    """Orders of a shard's possible relatives that lie within its own.

    first: the least order of shards created after its last record: its rows of a greater order may
    have come after a descendant's. last: the greatest order of shards whose last record is older
    than its creation: its rows of a less order may have come before an ancestor's. `None` if there
    is none.
    """

    first: Any | None = None
    last: Any | None = None


@dataclass(frozen=True, slots=True)
class Doubtful:
    """What has to be compared key by key; false if nothing has to be."""

    overlapping: frozenset[int] = frozenset()
    crossings: Mapping[int, Crossing] = field(default_factory=dict)

    @property
    def shards(self) -> frozenset[int]:
        """All shards with rows to be compared."""
        return self.overlapping | self.crossings.keys()

    def __bool__(self) -> bool:
        """Whether any shard is doubtful."""
        return bool(self.shards)


def merged(parts: Iterable[tuple[int, Life]]) -> dict[int, Life]:
    """The life of each shard, from those of parts of its rows."""
    lives: dict[int, Life] = {}
    for at, life in parts:
        was = lives.get(at, life)
        lives[at] = Life(min(was.born, life.born), max(was.ended, life.ended))
    return lives


def doubtful(orders: Mapping[int, Orders], lives: Mapping[int, Life]) -> Doubtful:
    """Shards whose batches overlap, or that came in another order than they lived.

    orders: of the shards with a row that tells its order. lives: of these at least.
    """
    overlapping = frozenset(at for at, of in orders.items() if of.overlaps)
    crossings = _crossings(orders, lives)
    return Doubtful(overlapping, {
        at: crossing for at, crossing in crossings.items() if crossing != Crossing()
    })


def _crossings(orders: Mapping[int, Orders], lives: Mapping[int, Life]) -> dict[int, Crossing]:
    """For each shard the first order of later shards and the last of earlier ones.

    Shards are sorted by creation and by last record, so that each is looked at twice and not beside
    every other.
    """
    born = sorted(orders, key=lambda at: lives[at].born, reverse=True)
    ended = sorted(orders, key=lambda at: lives[at].ended)
    first: dict[int, Any] = {}
    least, index = None, 0
    for at in reversed(ended):
        while index < len(born) and lives[born[index]].born > lives[at].ended:
            order = orders[born[index]].first
            least = order if least is None else min(least, order)
            index += 1
        first[at] = least if least is not None and least < orders[at].last else None
    last: dict[int, Any] = {}
    most, index = None, 0
    for at in reversed(born):
        while index < len(ended) and lives[ended[index]].ended < lives[at].born:
            order = orders[ended[index]].last
            most = order if most is None else max(most, order)
            index += 1
        last[at] = most if most is not None and most > orders[at].first else None
    return {at: Crossing(first[at], last[at]) for at in orders}
