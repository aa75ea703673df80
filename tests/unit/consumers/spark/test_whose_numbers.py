"""Whose a checkpoint is, by its numbers: as in every store, one wrong row does not make it foreign.

Expectation: the rule of all libraries (`sequence_numbers.of_wrong_stream`), which a stranger found
missing here: two positions of the stream and one of another were "the checkpoint of another".
"""

from __future__ import annotations

import pytest

from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.incarnation import incarnation
from reshardctl.consumers.spark.positions import Position
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from tests.support.case import all_cases
from tests.support.judging import Bench

EPOCH = 1 << 148
"""The lowest bit of a number's epoch (layout of 77 of 77 public samples)."""


@pytest.fixture
def read() -> tuple[Lineage, Checkpoint, dict[ShardId, str]]:
    """A stream, a checkpoint, and the first record's number of each shard that has records."""
    case = next(c for c in all_cases("spark") if sum(map(bool, c.records.values())) >= 2)
    expect = case.expects[0]
    bench = Bench.of(case, expect.initial[0], expect.releases[-1])
    checkpoint = bench.plan_case.checkpoint()
    held = {ShardId(shard): rows[0][0] for shard, rows in case.records.items() if rows}
    return bench.plan_case.state.lineage, checkpoint, held


def judged(read: tuple[Lineage, Checkpoint, dict[ShardId, str]], wrong: int) -> Incarnation:
    """The first so many shards have numbers that Kinesis refuses, the others their own."""
    lineage, checkpoint, numbers = read
    refused = {shard: str(int(n) + EPOCH) for shard, n in list(numbers.items())[:wrong]}
    lineage = lineage.as_of(lineage.stream.as_of, {int(n): False for n in refused.values()})
    places = numbers | refused
    current = {shard: Position("AFTER_SEQUENCE_NUMBER", number) for shard, number in places.items()}
    return incarnation(lineage, checkpoint, current)


def test_one_number_of_another_stream_is_one_wrong_row(read):
    assert judged(read, 0) is Incarnation.SAME
    assert judged(read, 1) is Incarnation.SAME


def test_a_checkpoint_of_nothing_else_is_another_stream_s(read):
    with pytest.raises(WrongStream, match="belongs to another stream"):
        judged(read, len(read[2]))
