"""Checkpoints that `kinesis-lineage` itself wrote: what the next start delivers, and no plan.

Expectations are what came at the restart of a copy, on PySpark 4.3.0 and 4.0.5, November 2026.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from reshardctl.consumers.spark.lines import lineage
from reshardctl.consumers.spark.offset_log import parse_offset_log
from reshardctl.consumers.spark.positions import Position
from reshardctl.model import ShardId, shard_id
from reshardctl.planning.plan import Nothing, decide
from tests.support.spark_recorded import GOLDEN, Recorded, delivered

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
