"""startingPosition as JSON, as the connectors and as kinesis-lineage take it."""

from __future__ import annotations

import json

import pytest

from reshardctl.consumers.spark.options import named_starts
from reshardctl.consumers.spark.positions import Position
from reshardctl.errors import UsageError
from reshardctl.model import shard_id
from reshardctl.spark.source.options import parse_starting
from tests.support.case_stream import number

ZERO, ONE, TWO, THREE = (shard_id(index) for index in range(4))
MET = number(1795219197, 3, 1795219500, 0)


def test_a_line_of_a_connector() -> None:
    """The example in the comment of fromCheckpointJson, with a number of this shard."""
    place = {"iteratorType": "AFTER_SEQUENCE_NUMBER", "iteratorPosition": MET}
    head = {"streamName": "my.cool.stream2", "batchId": "7"}
    found = named_starts(json.dumps({ZERO: place, "metadata": head}))
    assert found == {ZERO: Position("AFTER_SEQUENCE_NUMBER", MET)}


def test_a_place_a_shard() -> None:
    """What the source itself takes."""
    text = json.dumps({
        ZERO: {"AFTER_SEQUENCE_NUMBER": MET}, ONE: "latest", TWO: "SHARD_END",
        THREE: {"AT_TIMESTAMP": "2026-11-21T00:05:00Z"},
    })
    assert parse_starting(text).shards.keys() == {ZERO, ONE, TWO, THREE}
    assert named_starts(text) == {
        ZERO: Position("AFTER_SEQUENCE_NUMBER", MET), ONE: Position("LATEST"),
        TWO: Position("SHARD_END"), THREE: Position("AT_TIMESTAMP", "1795219500000"),
    }
    assert named_starts(json.dumps({ZERO: MET})) == {ZERO: Position("AFTER_SEQUENCE_NUMBER", MET)}


BAD = (
    ("{", "no JSON"),
    ("{}", "names no shard"),
    ('{"metadata":{"streamName":"st","batchId":"0"}}', "names no shard"),
    ('{"shard-1":"LATEST"}', "no shard id"),
    (json.dumps({ZERO: "SOMEWHERE"}), "is no position"),
    (json.dumps({ZERO: {"AT_SEQUENCE_NUMBER": "x"}}), "no sequence number"),
    (json.dumps({ONE: MET}), "is a number of shard 0"),
)


@pytest.mark.parametrize(("text", "why"), BAD, ids=[why for _, why in BAD])
def test_what_is_no_start_is_refused_with_both_forms(text: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        named_starts(text)
    assert why in refused.value.what
    assert "AFTER_SEQUENCE_NUMBER" in refused.value.next
