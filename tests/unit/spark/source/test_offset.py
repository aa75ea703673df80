"""What stands in a checkpoint, and what is said of one that was written otherwise."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.errors import UsageError
from reshardctl.model import shard_id
from reshardctl.spark.source.offset import Offset, OffsetPosition, read, written
from reshardctl.testing.shards import end, start

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
