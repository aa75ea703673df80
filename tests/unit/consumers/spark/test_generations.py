"""The groups of order=parents-first, found in one pass: as they are found by peeling."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reshardctl.consumers.spark.encode import generations
from reshardctl.consumers.spark.positions import BEGINNING
from reshardctl.model import ShardId, shard_id
from tests.support.lineages import lineages, split_in_turn

UNLISTED = ShardId("shardId-000000099999")


def peeled(lineage, left: set[ShardId]) -> list[set[ShardId]]:
    """Takes the shards off the top that are above others, again and again."""
    groups = []
    while now := {
        shard for shard in left
        if lineage.descendants(shard) & left and not lineage.ancestors(shard) & left
    }:
        groups.append(now)
        left = left - now
    return [*groups, left]


@settings(deadline=None)
@given(lineages(), st.data())
def test_ancestors_come_before_descendants_and_the_lowest_shards_last(lineage, data):
    chosen = data.draw(st.lists(st.sampled_from([*lineage, UNLISTED]), unique=True))
    groups = generations(lineage, dict.fromkeys(chosen, BEGINNING))
    assert [set(group) for group in groups] == peeled(lineage, set(chosen))
    assert all([s for s in chosen if s in group] == list(group) for group in groups)


def test_two_shards_follow_one_another_though_the_one_between_them_has_no_start():
    lineage = split_in_turn(1, [0, 1])
    top, low = shard_id(0), shard_id(3)
    assert generations(lineage, {low: BEGINNING, top: BEGINNING}) == [
        {top: BEGINNING}, {low: BEGINNING}
    ]
