"""Which shards may enter, over any reshard history; expectations from the shards' own fields."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reshardctl.lineage import Lineage
from reshardctl.model import Shard, shard_id
from reshardctl.spark.source.offset import (
    OffsetPosition,
    entrants,
    kept,
    processed,
    unlisted_parents,
)
from tests.support.lineages import STREAM, lineages, split_in_turn

DONE, OPEN = OffsetPosition(end=True), OffsetPosition()


def listed(lineage: Lineage, *gone: int) -> Lineage:
    """The same listing after retention has taken some shards."""
    names = {shard_id(n) for n in gone}
    shards: list[Shard] = [lineage[s] for s in lineage if s not in names]
    return Lineage(STREAM, shards)


@given(lineages(), st.data())
def test_batch_by_batch_every_shard_enters_once_and_behind_its_parents(lineage, data):
    places: dict = {}
    entered: dict = {}
    for batch in range(200):
        fresh = entrants(lineage, places)
        for shard in fresh:
            assert shard not in entered
            entered[shard] = batch
            for parent in lineage.parents(shard):
                assert places[parent].end, "a parent that is not read to its end"
        places |= dict.fromkeys(fresh, OPEN)
        closed = [s for s in places if not places[s].end and not lineage.is_open(s)]
        if not fresh and not closed:
            break
        if closed:
            for shard in data.draw(st.sets(st.sampled_from(closed), min_size=1)):
                places[shard] = DONE
    assert set(entered) == set(lineage)


@given(lineages(), st.data())
def test_ancestors_of_what_is_in_the_offset_have_had_their_turn(lineage, data):
    shards = list(lineage)
    chosen = data.draw(st.sampled_from(shards))
    places = {chosen: OPEN}
    assert processed(lineage, places) == lineage.ancestors(chosen)
    assert not lineage.ancestors(chosen) & set(entrants(lineage, places))


def test_a_mark_stays_until_it_is_of_no_use():
    lineage = split_in_turn(1, [0])  # 0 -> 1, 2
    assert kept(lineage, {shard_id(0): DONE}) == {shard_id(0): DONE}
    children = {shard_id(1): OPEN, shard_id(2): OPEN}
    assert kept(lineage, {shard_id(0): DONE, **children}) == {shard_id(0): DONE, **children}
    later = listed(lineage, 0)
    assert kept(later, {shard_id(0): DONE, **children}) == children
    one = {shard_id(0): DONE, shard_id(1): OPEN}
    assert kept(later, one) == one
    # Without it the other child would seem to be of a parent that was never read.
    assert list(unlisted_parents(later, one, [shard_id(2)])) == []
    assert list(unlisted_parents(later, {shard_id(1): OPEN}, [shard_id(2)])) == [
        (shard_id(2), shard_id(0))
    ]


def test_an_unread_place_is_never_dropped():
    later = listed(split_in_turn(1, [0]), 0)
    assert kept(later, {shard_id(0): OPEN}) == {shard_id(0): OPEN}
