"""Shares of a limit: never more in all, nobody forgotten."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from reshardctl.model import ShardId, shard_id
from reshardctl.spark.source.ends import Shares
from reshardctl.spark.tips import Found


class Backlogs:
    """Shards with so many records each; numbers are counts."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes = {shard_id(n): size for n, size in enumerate(sizes)}
        self.read = dict.fromkeys(self.sizes, 0)

    def trigger(self, shares: Shares, most: int) -> dict[ShardId, int]:
        def count(numbers: Mapping[ShardId, str | None], share: int) -> dict[ShardId, Found]:
            found = {}
            for shard, number in numbers.items():
                at = int(number or self.read[shard])
                taken = min(share, self.sizes[shard] - at)
                found[shard] = Found(str(at + taken) if taken else None, count=taken)
            return found

        found = shares.taken(list(self.sizes), most, count)
        for shard, one in found.items():
            self.read[shard] += one.count
            assert one.number is None or int(one.number) == self.read[shard]
        return {shard: one.count for shard, one in found.items() if one.count}


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.integers(1, 60))
def test_never_more_and_in_the_end_everything(sizes, most):
    backlogs, shares, triggers = Backlogs(sizes), Shares(), 0
    while taken := backlogs.trigger(shares, most):
        assert sum(taken.values()) <= most
        triggers += 1
    assert backlogs.read == backlogs.sizes
    assert triggers >= sum(sizes) / most


@given(st.integers(1, 12), st.integers(1, 12))
def test_every_shard_gets_its_turn(shards, most):
    backlogs, shares = Backlogs([1000] * shards), Shares()
    for _ in range(-(-shards // most)):
        backlogs.trigger(shares, most)
    assert all(backlogs.read.values())


def test_many_idle_shards_do_not_keep_one_from_its_turn():
    """Found by the soak without Spark, seed 6080: records behind four idle shards never came."""
    backlogs = Backlogs([0] * 40 + [3])
    assert sum(backlogs.trigger(Shares(), 1).values()) == 1
    assert sum(backlogs.trigger(Shares(), 2).values()) == 2


def test_what_one_leaves_others_take():
    backlogs = Backlogs([1, 100, 0])
    assert sum(backlogs.trigger(Shares(), 30).values()) == 30
