"""Streams: random reshard histories, and all small ones, in the case format's topology."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

CREATED = 1_795_219_200
RETENTION = 24 * 3600
CLEAR = 3 * 3600
"""Seconds right of the trim horizon in which nothing lies: a run lasts less, so that nothing
expires while it runs."""

Stream = dict[str, Any]


@dataclass
class History:
    """A stream in the making. Times are seconds after creation."""

    shards: list[dict[str, Any]] = field(default_factory=list)

    def root(self, low: Fraction, high: Fraction) -> None:
        """A shard that is there from the beginning."""
        self._born(low, high, [], 0)

    def split(self, shard: int, at: int) -> None:
        """In halves, at this second."""
        low, high = self.range(shard)
        middle = (low + high) / 2
        self.shards[shard]["close"] = at
        self._born(low, middle, [shard], at + 1)
        self._born(middle, high, [shard], at + 1)

    def merge(self, shard: int, adjacent: int, at: int) -> None:
        """Two neighbours; the first is ParentShardId, whichever lies lower."""
        bounds = [*self.range(shard), *self.range(adjacent)]
        for parent in (shard, adjacent):
            self.shards[parent]["close"] = at
        self._born(min(bounds), max(bounds), [shard, adjacent], at + 1)

    def range(self, shard: int) -> tuple[Fraction, Fraction]:
        """Its part of the hash space, the end exclusive."""
        low, high = self.shards[shard]["range"]
        return Fraction(low), Fraction(high)

    def open(self) -> list[int]:
        """Open shards by hash key."""
        found = [shard["id"] for shard in self.shards if "close" not in shard]
        return sorted(found, key=self.range)

    def stream(self, now: int) -> Stream:
        """The finished topology."""
        return {"created": CREATED, "now": now, "shards": self.shards}

    def _born(self, low: Fraction, high: Fraction, parents: list[int], at: int) -> None:
        shard = {"id": len(self.shards), "range": [str(low), str(high)], "open": at}
        self.shards.append(shard | ({"parents": parents} if parents else {}))


def random_stream(rng: Random, most: int = 4) -> Stream:
    """One to three roots, up to `most` splits and merges, sometimes with old shards trimmed."""
    while True:
        history = History()
        roots = rng.choice((1, 1, 2, 2, 3))
        for i in range(roots):
            history.root(Fraction(i, roots), Fraction(i + 1, roots))
        gap = rng.choice((600, 600, 7 * 3600))
        at = 0
        for _ in range(rng.choice((0, 1, 1, 2, 2, 3, *range(most + 1)))):
            at += gap + rng.randrange(gap // 2)
            _operate(history, rng, at)
        stream = history.stream(at + gap)
        for shard in history.shards:
            _fill(shard, rng.choice((0, 1, 2, 3, 3, 4)), stream["now"])
        if _quiet_at_the_horizon(stream):
            return stream


def _operate(history: History, rng: Random, at: int) -> None:
    pieces = history.open()
    chosen = rng.randrange(len(pieces))
    if chosen + 1 < len(pieces) and rng.random() < 0.45:
        first, second = pieces[chosen : chosen + 2]
        if rng.random() < 0.5:
            first, second = second, first
        history.merge(first, second, at)
    else:
        history.split(pieces[chosen], at)


def _fill(shard: dict[str, Any], count: int, now: int) -> None:
    """Records over the whole life, away from its ends."""
    start, stop = shard["open"] + 20, shard.get("close", now) - 20
    if count and start < stop:
        shard["records"] = {"n": count, "from": start, "to": stop}


def _quiet_at_the_horizon(stream: Stream) -> bool:
    horizon = stream["now"] - RETENTION
    moments = [shard["close"] for shard in stream["shards"] if "close" in shard]
    for shard in stream["shards"]:
        if records := shard.get("records"):
            gaps = max(records["n"] - 1, 1)
            width = records["to"] - records["from"]
            moments += [records["from"] + i * width // gaps for i in range(records["n"])]
    return not any(horizon - 60 <= moment <= horizon + CLEAR for moment in moments)


def small_streams() -> list[tuple[str, Stream]]:
    """Every history of one root and at most two operations, with its name."""
    plans: dict[str, list[tuple[str, int]]] = {
        "alone": [],
        "split": [("split", 0)],
        "split-left": [("split", 0), ("split", 1)],
        "split-right": [("split", 0), ("split", 2)],
        "diamond": [("split", 0), ("merge", 1)],
    }
    return [(name, _small(steps)) for name, steps in plans.items()]


def _small(steps: list[tuple[str, int]]) -> Stream:
    history = History()
    history.root(Fraction(0), Fraction(1))
    for i, (kind, shard) in enumerate(steps):
        at = 600 * (i + 1)
        if kind == "split":
            history.split(shard, at)
        else:
            history.merge(shard, shard + 1, at)
    stream = history.stream(600 * (len(steps) + 1))
    for row in history.shards:
        _fill(row, 2, stream["now"])
    return stream
