"""Look-ups by id: the same whenever they are asked, and found once."""

from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, shard_id, time_of
from tests.support.lineages import STREAM, lineages, split_in_turn

UNLISTED = ShardId("shardId-000000099999")


def shards_of(lineage):
    return [lineage[shard] for shard in lineage]


@given(lineages())
def test_every_look_up_says_what_the_listing_says_each_time(listed):
    """The listing itself is the expectation: parents as named, children as those that name it."""
    shards = shards_of(listed)
    fresh = Lineage(STREAM, shards)
    for _ in range(2):
        for shard in shards:
            named = [parent for parent in shard.parents if parent in fresh]
            born = [other.id for other in shards if shard.id in other.parents]
            assert fresh[shard.id] == shard
            assert fresh.parents(shard.id) == tuple(named)
            assert fresh.children(shard.id) == tuple(born)
            assert fresh.opened_at(shard.id) == time_of(shard.start)
            assert fresh.closed_at(shard.id) == (time_of(shard.end) if shard.end else None)
            assert fresh.is_open(shard.id) == (shard.end is None)
            assert fresh.first_number(shard.id) == int(shard.start)
            assert fresh.last_number(shard.id) == (int(shard.end) if shard.end else None)
            assert fresh.first_parent(shard.id) == shard.parent
            assert {*named, *fresh.unlisted_parents(shard.id)} == set(shard.parents)
        assert UNLISTED not in fresh
        assert fresh.parents(UNLISTED) == fresh.children(UNLISTED) == ()
        assert list(reversed(fresh)) == list(reversed(list(fresh)))


def test_a_parent_that_expired_has_children_and_is_not_listed():
    whole = split_in_turn(2, [0])
    rest = Lineage(STREAM, [whole[shard] for shard in whole if shard != shard_id(0)])
    assert rest.children(shard_id(0)) == (shard_id(2), shard_id(3))
    assert rest.parents(shard_id(2)) == ()
    assert rest[shard_id(2)].parent == rest.first_parent(shard_id(2)) == shard_id(0)
    assert rest.unlisted_parents(shard_id(2)) == (shard_id(0),)
    assert rest.unlisted_parents(shard_id(1)) == rest.unlisted_parents(shard_id(0)) == ()
    with pytest.raises(KeyError):
        rest.opened_at(shard_id(0))
    with pytest.raises(KeyError):
        rest.closed_at(shard_id(0))


def test_ids_of_another_form_keep_their_places():
    """Emulators write other ids; each is found by its own text."""
    whole = split_in_turn(1, [0])
    other = {shard: ShardId(f"shard-{shard[-1]}-of-an-emulator") for shard in whole}
    shards = [
        replace(
            one, id=other[one.id], parent=None if one.parent is None else other[one.parent]
        )
        for one in shards_of(whole)
    ]
    lineage = Lineage(STREAM, shards)
    first, *below = lineage
    assert lineage.children(first) == tuple(below)
    assert {lineage.parents(shard) for shard in below} == {(first,)}


def test_a_shard_is_made_once():
    lineage = split_in_turn(2, [0])
    assert lineage[shard_id(1)] is lineage[shard_id(1)]
    assert next(iter(lineage)) is next(iter(lineage))


def test_answers_are_kept_for_one_time_of_looking():
    """What a number means depends on the time at which the stream was looked at."""
    lineage, asked = split_in_turn(1, []), list[float]()
    later = lineage.as_of(lineage.stream.created + 60)

    def ask(of, _shard):
        asked.append(of.stream.as_of)

    for one in (lineage, later, lineage, later):
        one.memo.last(ask, one, shard_id(0))
    assert asked == [lineage.stream.as_of, later.stream.as_of]
    assert later.as_of(later.stream.as_of).memo is later.memo
