"""Offsets of kinesis-lineage as the source writes and reads them, and as it was recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from reshardctl.consumers.spark import lines
from reshardctl.consumers.spark.lines import lineage
from reshardctl.consumers.spark.offset_log import parse_offset_log
from reshardctl.consumers.spark.positions import Position, cut_of
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.errors import UsageError
from reshardctl.model import DONE, START, ShardId, at_number, at_time, shard_id
from reshardctl.planning.plan import Nothing, decide
from reshardctl.spark.source.offset import Offset, OffsetPosition, read, written
from tests.support.case_stream import number
from tests.support.spark_recorded import GOLDEN, Recorded, delivered

# ----
# Offsets of kinesis-lineage as the source writes and reads them (docs/source.md).

CREATED = 1795219200.0
ZERO, ONE, TWO = (shard_id(index) for index in range(3))
MET = number(int(CREATED) - 3, 3, int(CREATED) + 300, 0)


def offset() -> str:
    """An offset as the source makes it: its own `written`, and PySpark's json.dumps."""
    places = {
        ZERO: OffsetPosition(MET, tip=CREATED + 400.5),
        ONE: OffsetPosition(since=CREATED + 60.25),
    }
    return json.dumps(
        written(Offset({**places, TWO: OffsetPosition(end=True)}, "orders", CREATED, 86_400))
    )


def test_what_the_source_writes_is_read() -> None:
    found = lines.read(offset())
    assert found is not None
    assert (found.connector, found.stream, found.created) == ("lineage", "orders", CREATED)
    assert found.flaws == ()
    cuts = {shard: cut_of(position) for shard, position in found.positions.items()}
    assert cuts == {ZERO: at_number(MET), ONE: at_time(CREATED + 60.25), TWO: DONE}
    assert cuts[ZERO].quiet == CREATED + 400.5


def test_a_moved_place_drops_what_was_noted_of_the_old_one() -> None:
    """A tip that outlives its number would hide a loss; the other shards stay to the letter."""
    before = offset()
    after = lineage.line(before, {ZERO: Position("TRIM_HORIZON")})
    assert f'"{ZERO}": {{"seq": "", "end": false}}, ' in after
    assert after.partition(f'"{ONE}"')[2] == before.partition(f'"{ONE}"')[2]
    moved = read(json.loads(lineage.line(before, {ONE: Position("SHARD_END")}))).shards
    assert moved[ONE] == OffsetPosition(end=True) and moved[ZERO] == OffsetPosition(
        MET, tip=CREATED + 400.5
    )


def test_marks_come_and_go_in_order() -> None:
    after = json.loads(lineage.line(offset(), {shard_id(10): Position("TRIM_HORIZON")}, {ONE}))
    assert list(after) == ["shards", "stream", "created", "retention"]
    assert list(after["shards"]) == [ZERO, TWO, shard_id(10)]


def test_marks_in_another_order_stay_in_it() -> None:
    value = json.loads(offset())
    value["shards"] = dict(reversed(value["shards"].items()))
    after = json.loads(lineage.line(json.dumps(value), {ZERO: Position("TRIM_HORIZON")}))
    assert list(after["shards"]) == [TWO, ONE, ZERO]


def test_a_line_that_the_source_did_not_write_is_not_edited() -> None:
    with pytest.raises(Malformed, match="not spelled as PySpark"):
        lineage.line(offset().replace(": ", ":"), {ZERO: Position("TRIM_HORIZON")})


BAD: tuple[tuple[dict[str, object], dict[str, object], str], ...] = (
    ({"shard": 1}, {}, "does not know 'shard'"),
    ({"stream": 7}, {}, "stream is a number"),
    ({"created": "yesterday"}, {}, "created is a string"),
    ({"retention": "24h"}, {}, "retention is a string"),
    ({"created": True}, {}, "created is true or false"),
    ({"created": 1e12}, {}, "no time in Unix seconds"),
    ({}, {"at": 1}, "does not know 'at'"),
    ({}, {"tip": "now"}, "tip is a string"),
    ({}, {"tip": -1}, "no time in Unix seconds"),
    ({}, {"from": []}, "from is a list"),
    ({}, {"from": 1795219200000}, "no time in Unix seconds"),
    ({}, {"seq": 5}, "seq is a number"),
    ({}, {"seq": "x"}, "'x' is no sequence number"),
    ({}, {"end": "no"}, "end is a string"),
    ({}, {"end": None}, "end is null"),
)


@pytest.mark.parametrize(("top", "place", "why"), BAD, ids=[why for *_, why in BAD])
def test_what_the_source_refuses_is_named(
    top: dict[str, Any], place: dict[str, Any], why: str
) -> None:
    """The source's own reader is asked for each."""
    value = json.loads(offset())
    value |= top
    value["shards"][ZERO] |= place
    with pytest.raises(UsageError):
        read(value)
    found = lines.read(json.dumps(value))
    assert found is not None and why in found.broken


@pytest.mark.parametrize("name", ["from", "tip"])
def test_null_is_as_if_it_were_not_there(name: str) -> None:
    value = json.loads(offset())
    value["shards"][ONE] = {"seq": "", "end": False, name: None}
    value["created"] = None
    assert read(value).shards[ONE] == OffsetPosition()
    found = lines.read(json.dumps(value))
    assert found is not None and not found.broken
    assert (found.created, cut_of(found.positions[ONE])) == (None, START)


def test_an_offset_written_by_hand_may_lack_everything_but_the_shards() -> None:
    text = json.dumps({"shards": {ZERO: {"seq": MET, "end": False}}})
    assert read(json.loads(text)) == Offset({ZERO: OffsetPosition(MET)})
    found = lines.read(text)
    assert found is not None and (found.broken, found.stream, found.created) == ("", "", None)


# ----
# Checkpoints that `kinesis-lineage` itself wrote: what the next start delivers, and no plan.
#
# Expectations are what came at the restart of a copy, on PySpark 4.3.0 and 4.0.5, November 2026.

OLD, NEW = "kinesis-lineage-4.0.5", "kinesis-lineage-4.3.0"
CAME: dict[str, Mapping[int, Sequence[int]]] = {
    "s1": {0: [4, 5], 1: [0, 1], 2: [0, 1]},
    "s1x": {},
    "l1": {},
}
"""Shape → what its restart delivered: indices by shard."""
RECORDED = [(OLD, "s1"), (OLD, "s1x"), (NEW, "s1"), (NEW, "s1x"), (NEW, "l1")]
every = pytest.mark.parametrize(("folder", "shape"), RECORDED)
OFFSETS = sorted(
    path for folder in (OLD, NEW) for path in (GOLDEN / folder).glob("*/offsets/[0-9]*")
)


@every
def test_the_next_start_is_forecast_and_nothing_is_planned(folder: str, shape: str) -> None:
    recorded = Recorded(shape, "kinesis-lineage", folder, failOnDataLoss="true")
    case = recorded.case()
    assert delivered(recorded, case) == {s: list(rows) for s, rows in CAME[shape].items()}
    assert decide(case) == Nothing()


@pytest.mark.parametrize("path", OFFSETS, ids=lambda path: "/".join(path.parts[-4:]))
def test_its_offsets_are_written_back_byte_for_byte(path: Path) -> None:
    """And with one place moved, only that place is another."""
    log = parse_offset_log(path.read_text())
    (source,) = (one.name for one in log.lines)
    text = log[source]
    assert log.replacing(source, lineage.line(text, {})).text() == path.read_text()
    last = ShardId(max(json.loads(text)["shards"]))
    moved = lineage.line(text, {last: Position("TRIM_HORIZON")})
    assert moved.partition(f'"{last}"')[0] == text.partition(f'"{last}"')[0]
    assert moved.partition('}}, "stream"')[2] == text.partition('}}, "stream"')[2]


def test_a_named_source_is_found_in_a_log_of_the_second_version() -> None:
    log = parse_offset_log((GOLDEN / NEW / "s1" / "offsets" / "0").read_text())
    assert (log.version, [one.name for one in log.lines]) == (2, ["kin"])
    assert shard_id(0) in log["kin"]
