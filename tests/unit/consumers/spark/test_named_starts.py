"""startingPosition as JSON, as the connectors and as kinesis-lineage take it."""

from __future__ import annotations

import json

import pytest

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.options import named_starts
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.releases import App
from reshardctl.errors import UsageError
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Simulation,
    WillRead,
    at_number,
    at_time,
    shard_id,
)
from reshardctl.spark.source.latest import opening, to_pin
from reshardctl.spark.source.options import parse_starting
from tests.support.case_stream import number
from tests.support.lineages import CREATED, split_in_turn
from tests.support.spark_recorded import FOLDERS, QUBOLE, V1, Recorded, judged

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


LINEAGE = split_in_turn(2, (0,))
"""Shard 0 was closed ten minutes after the stream's creation; 2 and 3 are its children."""
STARTS = (
    "TRIM_HORIZON", "AT_TIMESTAMP 2026-11-21T00:05:00Z", "AT_TIMESTAMP 2026-11-21T00:30:00Z",
    json.dumps({ONE: "TRIM_HORIZON", TWO: "TRIM_HORIZON", THREE: {"AT_TIMESTAMP": "1795220000"}}),
    json.dumps({ZERO: {"AFTER_SEQUENCE_NUMBER": MET}, ONE: "LATEST"}),
    json.dumps({ZERO: "SHARD_END", ONE: "LATEST", TWO: "LATEST", THREE: "TRIM_HORIZON"}),
    "LATEST",
    json.dumps({ZERO: "LATEST", ONE: "LATEST"}),
    json.dumps({ZERO: "LATEST", ONE: "TRIM_HORIZON", TWO: "LATEST"}),
    json.dumps({ZERO: "TRIM_HORIZON", ONE: "LATEST", TWO: "TRIM_HORIZON"}),
)


def forecast(start: str) -> Simulation:
    """Of a query without a checkpoint."""
    options = {"release": "kinesis-lineage", "batch": "0",
               "startingPosition": start.replace("AT_TIMESTAMP 2", "AT_TIMESTAMP:2")}  # fmt: skip
    spark = Spark().for_options(options)
    gone = spark.parse([], LINEAGE.stream)
    (candidate,) = spark.candidates(gone, options)
    assert isinstance(candidate.app, App)
    return spark.simulate_start(LINEAGE, gone, candidate.app)


@pytest.mark.parametrize("start", STARTS)
def test_a_first_batch_is_forecast_to_begin_where_the_source_begins_it(start: str) -> None:
    run = forecast(start)
    assert run.crash is None
    fates = run.fates
    begins = {s: f.at.lo for s, f in fates.items() if isinstance(f, WillRead) and not f.after}
    starting = parse_starting(start)
    opened = opening(LINEAGE, starting, CREATED + 7200.0)
    pinned = to_pin(LINEAGE, starting)
    assert begins == {
        shard: TIP if shard in pinned else DONE if at.end else at_number(at.seq) if at.seq
        else START if at.since is None else at_time(at.since)
        for shard, at in opened.items()
    }


@pytest.mark.parametrize(("release", "place", "expected"), [
    (QUBOLE, "SHARD_END", Cause.FALSE_END), (QUBOLE, "TRIM_HORIZON", START),
    (QUBOLE, "LATEST", TIP), (V1, "SHARD_END", Cause.FALSE_END), (V1, "TRIM_HORIZON", START),
])  # fmt: skip
def test_a_new_shard_begins_where_the_option_of_a_connector_names_it(release, place, expected):
    """ShardSyncer adds a shard at initialPosition.shardPosition; SHARD_END is never read again."""
    line = awslabs.line if release == V1 else qubole.line
    named = {ONE: Position(place), TWO: Position("TRIM_HORIZON")}
    recorded = Recorded("s1", release, FOLDERS[release],
                        startingPosition=line("st", 0, named, "2.12"))  # fmt: skip
    one = recorded.case()
    fate = one.consumer.simulate_start(
        recorded.lineage, one.checkpoint(), one.candidates[0].app
    ).fates[ONE]
    assert expected == (fate.at.lo if isinstance(fate, WillRead) else fate.cause)


def test_a_closed_child_that_the_option_ends_is_not_read() -> None:
    recorded = Recorded("t1", QUBOLE, FOLDERS[QUBOLE])
    lineage = recorded.lineage
    (child, *_) = [s for s in lineage if lineage.parents(s) and not lineage.is_open(s)]
    line = qubole.line("st", 0, {child: Position("SHARD_END")}, "2.12")
    one = Recorded("t1", QUBOLE, FOLDERS[QUBOLE], startingPosition=line).case()
    fate = judged(one).simulation.fates[child]
    assert isinstance(fate, WillRead) and fate.at.lo == DONE


def test_an_offset_line_of_a_connector_is_refused_as_the_source_refuses_it() -> None:
    line = qubole.line("st", 0, {ONE: Position("LATEST")}, "2.12")
    with pytest.raises(UsageError, match="metadata"):
        parse_starting(line)
    with pytest.raises(UsageError, match="kinesis-lineage takes no offset line"):
        forecast(line)


ENDING = str(LINEAGE.last_number(ZERO))
REFUSED = (
    ({ZERO: {"AFTER_SEQUENCE_NUMBER": MET}}, "does not say where shard 1 begins"),
    ({ONE: "LATEST"}, "does not say where shard 0 begins"),
    ({ONE: "LATEST", TWO: "LATEST"}, "does not say where shard 3 begins"),
    ({ZERO: "LATEST", ONE: "LATEST", shard_id(7): "LATEST"}, "names shard 7, which is not listed"),
    ({ZERO: "TRIM_HORIZON", ONE: "SHARD_END"}, "says SHARD_END for shard 1, which is open"),
    ({ZERO: "TRIM_HORIZON", ONE: "LATEST", TWO: "LATEST"}, "has shard 2 start after its beginning"),
    ({ZERO: {"AT_TIMESTAMP": 1795220000}, ONE: "LATEST", THREE: {"AT_TIMESTAMP": 1795220000}},
     "has shard 3 start after its beginning"),
    ({ZERO: {"AT_SEQUENCE_NUMBER": MET}, ONE: "LATEST"}, f"startingPosition of {ZERO}"),
    ({ZERO: {"AFTER_SEQUENCE_NUMBER": ENDING}, ONE: "LATEST"}, f"startingPosition of {ZERO}"),
)  # fmt: skip
"""Starts as JSON, and why the source refuses them when it plans the first batch."""


@pytest.mark.parametrize(("starts", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_a_start_that_the_source_refuses_is_forecast_to_crash(starts, why) -> None:
    text = json.dumps(starts)
    with pytest.raises(UsageError) as refused:
        opening(LINEAGE, parse_starting(text), CREATED + 7200.0)
    assert why in refused.value.what
    crash = forecast(text).crash
    assert crash is not None and crash.certain
    assert why in crash.why


BAD = (
    ("{", "no JSON"),
    ("{}", "names no shard"),
    ('{"metadata":{"streamName":"st","batchId":"0"}}', "names no shard"),
    ('{"shard-1":"LATEST"}', "no shard id"),
    (json.dumps({ZERO: "SOMEWHERE"}), "is no position"),
    (json.dumps({ZERO: {"AT_SEQUENCE_NUMBER": "x"}}), "no sequence number"),
    (json.dumps({ONE: MET}), "is a number of shard 0"),
    (json.dumps({ONE: {"AT_TIMESTAMP": "1e12"}}), "no time in Unix seconds"),
)


@pytest.mark.parametrize(("text", "why"), BAD, ids=[why for _, why in BAD])
def test_what_is_no_start_is_refused_with_both_forms(text: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        named_starts(text)
    assert why in refused.value.what
    assert "AFTER_SEQUENCE_NUMBER" in refused.value.next
