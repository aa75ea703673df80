"""Whether a checkpoint is of the stream that is there, where its newest batch holds no number."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.lines import awslabs
from reshardctl.consumers.spark.positions import TRIM_HORIZON, Position
from reshardctl.lineage import Lineage
from reshardctl.model import Image, shard_id
from tests.support.lineages import STREAM
from tests.support.spark_recorded import FOLDERS, HEAD, V1, Recorded

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


@pytest.mark.parametrize(
    ("stamps", "is_"),
    [
        ([3600], SAME),
        ([3600, 3700], SAME),
        ([600], AMBIGUOUS),  # clocks may differ by as much
        ([-3600], AMBIGUOUS),  # so may these, and the stream may be another
        ([-3600, 3600], AMBIGUOUS),
        ([None], AMBIGUOUS),
    ],
)
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
