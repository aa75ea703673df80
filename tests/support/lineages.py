"""Random reshard histories, for property tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, ShardId, Stream, shard_id
from reshardctl.testing.shards import end, start

CREATED = 1_795_219_200
RETENTION = 86_400
STREAM = Stream(
    "arn:aws:kinesis:us-east-1:123456789012:stream/orders", "orders", CREATED, RETENTION, "ACTIVE"
)
MINUTES_BETWEEN = 10


@dataclass(slots=True)
class _Making:
    """Shards being made, by number, and the time of the next reshard."""

    shards: list[Shard]
    now: int = CREATED

    def born(self, low: int, high: int, parents: tuple[int, ...] = ()) -> None:
        number = len(self.shards)
        named = [shard_id(parent) for parent in parents]
        second = self.now + 1 if parents else CREATED - 3
        parent, adjacent = [*named, None, None][:2]
        first = str(start(number, second))
        self.shards.append(Shard(shard_id(number), parent, adjacent, low, high, first, None))

    def close(self, *numbers: int) -> None:
        self.now += 60 * MINUTES_BETWEEN
        for number in numbers:
            shard = self.shards[number]
            epoch = (int(shard.start) >> 148) & (2**36 - 1)
            self.shards[number] = replace(shard, end=str(end(number, epoch, self.now)))

    def in_order(self) -> list[int]:
        """Open shards in the order of their hash keys."""
        numbers = [n for n, shard in enumerate(self.shards) if shard.end is None]
        return sorted(numbers, key=lambda n: self.shards[n].hash_start)

    def split(self, number: int) -> None:
        low, high = self.shards[number].hash_start, self.shards[number].hash_end
        self.close(number)
        middle = (low + high) // 2
        self.born(low, middle, (number,))
        self.born(middle + 1, high, (number,))

    def merge(self, lower: int, upper: int) -> None:
        pair = [self.shards[lower], self.shards[upper]]
        self.close(lower, upper)
        low = min(shard.hash_start for shard in pair)
        self.born(low, max(shard.hash_end for shard in pair), (lower, upper))


@st.composite
def lineages(draw: st.DrawFn, most: int = 5) -> Lineage:
    """A stream of one to three shards after up to `most` splits and merges, ten minutes apart.

    Numbers are as Kinesis writes them. The oldest closed shards may be trimmed.
    """
    making = _Making([])
    count = draw(st.integers(1, 3))
    for number in range(count):
        making.born(number * HASH_SPACE // count, (number + 1) * HASH_SPACE // count - 1)
    for _ in range(draw(st.integers(0, most))):
        open_ones = making.in_order()
        chosen = draw(st.integers(0, len(open_ones) - 1))
        if draw(st.booleans()) and chosen + 1 < len(open_ones):
            making.merge(*open_ones[chosen : chosen + 2])
        else:
            making.split(open_ones[chosen])
    return Lineage(STREAM, _listed(draw, making.shards))


def _listed(draw: st.DrawFn, shards: list[Shard]) -> list[Shard]:
    """Without shards closed before some moment; open ones are always listed."""
    ends = sorted(int(shard.end) >> 36 & 2**36 - 1 for shard in shards if shard.end)
    gone = draw(st.sampled_from([0, *ends]))
    return [s for s in shards if s.end is None or int(s.end) >> 36 & 2**36 - 1 > gone]


def number_inside(lineage: Lineage, shard: ShardId, index: int = 1) -> str:
    """The number of a record of this shard, a minute after its creation."""
    listed = lineage[shard]
    born = int(listed.start)
    return str(born + (index << 80) + (60 << 36))


def split_in_turn(roots: int, numbers: Sequence[int]) -> Lineage:
    """A stream of `roots` shards, of which `numbers` were split one after the other."""
    making = _Making([])
    for number in range(roots):
        making.born(number * HASH_SPACE // roots, (number + 1) * HASH_SPACE // roots - 1)
    for number in numbers:
        making.split(number)
    return Lineage(STREAM, making.shards)
