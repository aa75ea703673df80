"""Reshard histories: a few written out, and any number drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from reshardctl.model import HASH_SPACE, Shard, ShardId, Stream, shard_id

CREATED = 1_700_000_000
STREAM = Stream(
    "arn:aws:kinesis:us-east-1:123456789012:stream/orders", "orders", CREATED, 86400, "ACTIVE"
)


def number(shard: int, time: int, index: int = 0) -> str:
    """A sequence number as Kinesis lays it out (77 of 77 public numbers): 56 digits."""
    return str(
        2 << 184 | time << 148 | (shard & 15) << 144 | index << 80 | time << 36 | shard << 4 | 2
    )


@dataclass
class History:
    """Shards in the making: indices, ranges, parents. One second passes with each reshard."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    now: int = CREATED

    def root(self, low: int, high: int) -> int:
        return self._born(low, high, ())

    def split(self, shard: int, at: int | None = None) -> tuple[int, int]:
        low, high = self.rows[shard]["range"]
        middle = (low + high + 1) // 2 if at is None else at
        self._close(shard)
        return self._born(low, middle - 1, (shard,)), self._born(middle, high, (shard,))

    def merge(self, shard: int, adjacent: int) -> int:
        ranges = [*self.rows[shard]["range"], *self.rows[adjacent]["range"]]
        self._close(shard)
        self._close(adjacent)
        return self._born(min(ranges), max(ranges), (shard, adjacent))

    def open(self) -> list[int]:
        return [i for i, row in enumerate(self.rows) if row["end"] is None]

    def shards(self, name: Any = shard_id) -> list[Shard]:
        return [self._shard(index, name) for index in range(len(self.rows))]

    def _born(self, low: int, high: int, parents: tuple[int, ...]) -> int:
        self.rows.append({"range": (low, high), "parents": parents, "start": self.now, "end": None})
        return len(self.rows) - 1

    def _close(self, shard: int) -> None:
        self.rows[shard]["end"] = self.now
        self.now += 1

    def _shard(self, index: int, name: Any) -> Shard:
        row = self.rows[index]
        parents = [ShardId(name(parent)) for parent in row["parents"]]
        parent, adjacent = [*parents, None, None][:2]
        low, high = row["range"]
        end = None if row["end"] is None else number(index, row["end"], (1 << 63) - 1)
        return Shard(
            ShardId(name(index)), parent, adjacent, low, high, number(index, row["start"]), end,
        )  # fmt: skip


def page_of(shards: list[Shard]) -> list[dict[str, Any]]:
    """The shards as ListShards writes them in JSON (ListShards API reference)."""
    return [_raw(shard) for shard in shards]


def _raw(shard: Shard) -> dict[str, Any]:
    raw: dict[str, Any] = {"ShardId": shard.id}
    if shard.parent is not None:
        raw["ParentShardId"] = shard.parent
    if shard.adjacent is not None:
        raw["AdjacentParentShardId"] = shard.adjacent
    raw["HashKeyRange"] = {
        "StartingHashKey": str(shard.hash_start),
        "EndingHashKey": str(shard.hash_end),
    }
    raw["SequenceNumberRange"] = {"StartingSequenceNumber": shard.start}
    if shard.end is not None:
        raw["SequenceNumberRange"]["EndingSequenceNumber"] = shard.end
    return raw


def fresh(count: int) -> History:
    """A new stream; shard i begins at floor(i * 2^128 / count), as AWS cuts it."""
    history = History()
    edges = [i * HASH_SPACE // count for i in range(count + 1)]
    for low, high in pairwise(edges):
        history.root(low, high - 1)
    return history


@st.composite
def histories(draw: st.DrawFn, most: int = 25) -> History:
    """A new stream after up to `most` random splits and merges."""
    history = fresh(draw(st.integers(1, 4)))
    for _ in range(draw(st.integers(0, most))):
        by_range = sorted(history.open(), key=lambda i: history.rows[i]["range"])
        chosen = draw(st.integers(0, len(by_range) - 1))
        if draw(st.booleans()) and chosen + 1 < len(by_range):
            pair = by_range[chosen : chosen + 2]
            history.merge(*(reversed(pair) if draw(st.booleans()) else pair))
        else:
            low, high = history.rows[by_range[chosen]]["range"]
            if low < high:
                history.split(by_range[chosen], draw(st.integers(low + 1, high)))
    return history


@st.composite
def listings(draw: st.DrawFn) -> list[Shard]:
    """What is listed of a random history: some closed shards are trimmed, parents first."""
    history = draw(histories())
    shards = history.shards()
    horizon = draw(st.integers(CREATED - 1, history.now))
    ends = [row["end"] for row in history.rows]
    return [s for s, end in zip(shards, ends, strict=True) if end is None or end >= horizon]
