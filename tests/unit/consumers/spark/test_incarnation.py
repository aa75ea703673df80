"""Whose a checkpoint is, by its numbers and by the times of its batches."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.incarnation import incarnation
from reshardctl.consumers.spark.lines import awslabs
from reshardctl.consumers.spark.positions import TRIM_HORIZON, Position
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import Image, ShardId, shard_id
from tests.support.case import all_cases
from tests.support.judging import Bench
from tests.support.lineages import STREAM
from tests.support.spark_recorded import FOLDERS, HEAD, V1, Recorded

# ----
# Whether a checkpoint is of the stream that is there, where its newest batch holds no number.

AMBIGUOUS, SAME = Incarnation.AMBIGUOUS, Incarnation.SAME


@pytest.mark.parametrize("release", [V1, HEAD])
@pytest.mark.parametrize("younger", [False, True])
def test_the_log_of_the_batch_before_tells(release: str, younger: bool) -> None:
    """u1: batch 1 is planned, and died in the sink; its starts are TRIM_HORIZON after a reshard."""
    recorded = Recorded("u1", release, FOLDERS[release])
    lineage = recorded.lineage
    images = [
        image for image in recorded.images if not image.key.startswith("sources/0/shard-source/1")
    ]
    line = awslabs.line("st", 1, {shard_id(1): Position(TRIM_HORIZON)}, "2.13")
    planned = next(image for image in images if image.key == "offsets/1")
    lines = planned.attributes["text"]["S"].split("\n")
    prefix = "0:" if lines[0] == "v2" else ""
    text = "\n".join([*lines[:2], prefix + line])
    images = [Image("offsets/1", {"text": {"S": text}}) if i is planned else i for i in images]
    if younger:
        later = replace(lineage.stream, created=lineage.stream.created + 10**6)
        lineage = Lineage(later, [lineage[shard] for shard in lineage])
    checkpoint = Spark().parse(images)
    assert Spark().incarnation(lineage, checkpoint) is (AMBIGUOUS if younger else SAME)


def test_offsets_of_a_stream_that_was_created_later_are_another_streams() -> None:
    """kinesis-lineage stores the creation time (docs/source.md)."""
    offset = {"shards": {}, "stream": STREAM.name, "created": STREAM.created + 86_400}
    head = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}})
    images = [Image("offsets/0", {"text": {"S": f"v1\n{head}\n{json.dumps(offset)}"}})]
    with pytest.raises(WrongStream, match="after this one"):
        Spark().incarnation(Lineage(STREAM, []), Spark().parse(images))


@pytest.mark.parametrize(("stamps", "is_"), [
    ([3600], SAME),
    ([3600, 3700], SAME),
    ([600], AMBIGUOUS),  # clocks may differ by as much
    ([-3600], AMBIGUOUS),  # so may these, and the stream may be another
    ([-3600, 3600], AMBIGUOUS),
    ([None], AMBIGUOUS),
])  # fmt: skip
def test_without_a_number_the_times_of_the_batches_tell(
    stamps: list[int | None], is_: Incarnation
) -> None:
    """batchTimestampMs: the driver's clock when it planned the batch (OffsetSeqMetadata)."""
    images = [Image("metadata", {"text": {"S": '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}'}})]
    for number, since in enumerate(stamps):
        at = 0 if since is None else int(STREAM.created + since) * 1000
        head = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": at, "conf": {}})
        line = awslabs.line(STREAM.name, number, {shard_id(0): Position(TRIM_HORIZON)}, "2.12")
        images.append(Image(f"offsets/{number}", {"text": {"S": f"v1\n{head}\n{line}"}}))
    assert Spark().incarnation(Lineage(STREAM, []), Spark().parse(images)) is is_


# ----
# Whose a checkpoint is, by its numbers: as in every store, one wrong row does not make it foreign.
#
# Expectation: the rule of all libraries (`sequence_numbers.of_wrong_stream`), which a stranger
# found missing here: two positions of the stream and one of another were "the checkpoint of
# another".

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
