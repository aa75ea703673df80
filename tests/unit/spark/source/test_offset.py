"""What stands in a checkpoint, what is said of one that was written otherwise, and which shards may
enter it, over any reshard history: expectations from the shards' own fields."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import Shard, shard_id
from reshardctl.spark.source.offset import (
    Offset,
    OffsetPosition,
    entrants,
    kept,
    processed,
    read,
    unlisted_parents,
    written,
)
from reshardctl.testing.shards import end, start
from tests.support.lineages import STREAM, lineages, split_in_turn

SECONDS = st.floats(0, 4e9) | st.integers(0, 4_000_000_000)


@st.composite
def places(draw, number: int = 0) -> OffsetPosition:
    digits = int(start(number, 1_795_232_267)) + (draw(st.integers(1, 99)) << 80)
    return OffsetPosition(
        draw(st.sampled_from(["", str(digits)])),
        draw(st.booleans()),
        draw(st.none() | SECONDS),
        draw(st.none() | SECONDS),
    )


@given(st.data(), st.sets(st.integers(0, 30)), st.none() | SECONDS, st.none() | SECONDS)
def test_what_is_written_is_read_back(data, numbers, created, retention):
    shards = {shard_id(n): data.draw(places(n)) for n in numbers}
    offset = Offset(shards, "orders", created, retention)
    assert read(json.loads(json.dumps(written(offset)))) == offset


def test_the_text_is_the_same_for_the_same_places():
    one, other = OffsetPosition("", True), OffsetPosition("", False, None, 5.0)
    there = Offset({shard_id(0): one, shard_id(11): other}, "orders", 7, 86_400)
    back = Offset({shard_id(11): other, shard_id(0): one}, "orders", 7, 86_400)
    assert json.dumps(written(there)) == json.dumps(written(back)) == (
        '{"shards": {"shardId-000000000000": {"seq": "", "end": true}, '
        '"shardId-000000000011": {"seq": "", "end": false, "tip": 5.0}}, '
        '"stream": "orders", "created": 7, "retention": 86400}'
    )


def test_keys_that_were_left_out_by_hand_are_not_missed():
    place = {"seq": "", "end": False}
    assert read({"shards": {shard_id(0): place}}) == Offset({shard_id(0): OffsetPosition()})


NUMBER = str(int(start(0, 1_795_232_267)) + (1 << 80))
WRONG = {
    "no object": ([], 'no object "shards"'),
    "no shards": ({"stream": "orders"}, 'no object "shards"'),
    "another source's": ({"offset": 10}, 'no object "shards"'),
    "unknown key": ({"shards": {}, "batch": 1}, 'unknown key "batch"'),
    "stream": ({"shards": {}, "stream": 1}, '"stream" is no text'),
    "created": ({"shards": {}, "created": "2026"}, '"created" is no time'),
    "milliseconds": ({"shards": {}, "created": 1_795_232_267_000}, '"created" is no time'),
    "retention": ({"shards": {}, "retention": "24h"}, '"retention" is no time'),
    "shard id": ({"shards": {"0": {"seq": "", "end": True}}}, "'0' is no shard id"),
    "no place": ({"shards": {shard_id(3): "LATEST"}}, "shardId-000000000003 is no object"),
    "no seq": ({"shards": {shard_id(3): {"end": True}}}, '000003: "seq" is absent'),
    "number": ({"shards": {shard_id(3): {"seq": 5, "end": True}}}, '000003: "seq" is int, not'),
    "word": ({"shards": {shard_id(3): {"seq": "LATEST", "end": False}}}, "no sequence number"),
    "end": ({"shards": {shard_id(3): {"seq": "", "end": "true"}}}, "neither true nor false"),
    "no end": ({"shards": {shard_id(3): {"seq": ""}}}, '000003: "end" is absent'),
    "place key": (
        {"shards": {shard_id(3): {"seq": "", "end": True, "sub": 0}}}, '000003: unknown key "sub"'
    ),
    "from": ({"shards": {shard_id(3): {"seq": "", "end": True, "from": "x"}}}, '"from" is no time'),
    "tip": ({"shards": {shard_id(3): {"seq": "", "end": True, "tip": True}}}, '"tip" is no time'),
    "another shard's": (
        {"shards": {shard_id(3): {"seq": NUMBER, "end": False}}}, "is a number of shard 0"
    ),
    "ending number": (
        {"shards": {shard_id(0): {"seq": str(end(0, 1_795_232_264, 1_795_233_267)), "end": False}}},
        'has "end": true',
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_makes_no_sense_is_named(case):
    value, words = WRONG[case]
    with pytest.raises(UsageError) as error:
        read(value)
    assert words in error.value.what
    assert "reshardctl inspect spark:" in error.value.next


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
