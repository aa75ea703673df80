"""The order of shard ids, by their number, which grows with creation; sequence numbers of none."""

from __future__ import annotations

import pytest

from reshardctl.model import ShardId, decode, in_birth_order, shard_id
from reshardctl.model.shards import parts_of, shards_in


@pytest.mark.parametrize("ids", [
    [shard_id(n) for n in (0, 2, 10, 99)],
    [shard_id(n) for n in (0, 999_999_999_999, 1_000_000_000_000, 2_000_000_000_000)],
    [ShardId("shard-b-of-an-emulator"), shard_id(3), shard_id(1_000_000_000_000)],
    [ShardId("shardId-00000000000x"), shard_id(0), shard_id(11)],
])  # fmt: skip
def test_ids_of_any_length_are_ordered_by_their_number_and_others_come_first(ids):
    assert in_birth_order(reversed(ids)) == ids


@pytest.mark.parametrize(("text", "numbers"), [
    ("4", [4]), ("3-5", [3, 4, 5]), ("5-5", [5]), ("7-9", [7]), ("8-9", []),
    ("6,3-4,6", [6, 3, 4]), (shard_id(5), [5]),
])  # fmt: skip
def test_shards_that_an_operator_names(text, numbers):
    known = [shard_id(n) for n in range(8)]
    named = [shard for part in parts_of([text]) for shard in shards_in(part, known)]
    assert named == [shard_id(n) for n in numbers]


NUMBER = 49545115243490985018280067714973144582180062593244200961
"""One of tests/golden/sequence_numbers.json, of version 1."""
OF_TWO = 2 << 184 | 1_795_219_200 << 148 | 1_795_219_200 << 36 | 2
"""The first number of shard 0 of a stream, of version 2."""


@pytest.mark.parametrize("number", [
    NUMBER << 1, NUMBER | 0xF, NUMBER | 3, OF_TWO | 1, str(NUMBER) + "x", 7, OF_TWO | 1 << 72,
    NUMBER | 0xF << 144,
], ids=[
    "longer", "another version", "a version that is none", "a third version", "no number",
    "too short", "a bit that is always 0", "another shard's head",
])
def test_what_is_no_sequence_number_of_kinesis_has_no_fields(number):
    assert decode(NUMBER) is not None and decode(OF_TWO) is not None
    assert decode(number) is None
