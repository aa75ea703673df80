"""Lease tables that the real KCL wrote: none is broken, so none may give more than information.

Each scenario's README.md tells what had happened; the story told here is checked against it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.diagnosis.rules import Severity, View, findings
from reshardctl.model import START, TIP, WillRead, time_of
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, Nothing, decide, judge, processed_frontier
from reshardctl.planning.policy import LOSSLESS
from tests.support.judging import images_of, lineage_of

GOLDEN = Path(__file__).parents[2] / "golden" / "kcl"
TABLES = sorted(
    path.parent for version in ("1.13.3", "1.15.3", "2.7.2", "3.1.3", "3.5.1")
    for path in (GOLDEN / version).glob("*/leases.json")
    if (path.parent / "shards.json").exists()
)
SENTINELS = {"g10-latest-untouched": "LATEST", "g11-at-timestamp-untouched": "AT_TIMESTAMP"}


def seconds(number: str) -> int:
    """The time in a number, which has one."""
    time = time_of(number)
    assert time is not None
    return time


def case_of(folder: Path, options: dict[str, str], drop=lambda _item: False) -> Case:
    items = [i for i in json.loads((folder / "leases.json").read_text())["Items"] if not drop(i)]
    shards = json.loads((folder / "shards.json").read_text())["Shards"]
    records = json.loads((folder / "records.json").read_text())
    starts = [seconds(s["SequenceNumberRange"]["StartingSequenceNumber"]) for s in shards]
    numbers = [seconds(n) for held in records.values() for n, _ in held]
    lineage = lineage_of(shards, min(starts) + 3)
    kcl = CONSUMERS["kcl"]
    images = images_of(items)
    state = StreamState(lineage, max([*starts, *numbers]) + 60)
    return Case(kcl, state, images, kcl.candidates(kcl.parse(images), options))


def above_info(case: Case) -> list[str]:
    lineage = case.state.lineage
    processed = processed_frontier(case)
    table = case.consumer.parse(case.images)
    anomalies = case.consumer.anomalies(lineage, table)
    return [
        f"{f.code} {f.shards}"
        for j in judge(case, LOSSLESS.frontier(lineage, processed), processed)
        for f in findings(View(case.state, processed, j.simulation, j.effects, anomalies))
        if f.severity > Severity.INFO
    ]


def starts(folder: Path) -> list[dict[str, str]]:
    if folder.name in SENTINELS:
        return [{}, {"initial": SENTINELS[folder.name]}]
    return [{}, {"initial": "LATEST"}, {"initial": "TRIM_HORIZON"}]


@pytest.mark.parametrize("folder", TABLES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_table_that_nothing_broke_is_clean(folder):
    for options in starts(folder):
        case = case_of(folder, options)
        assert above_info(case) == []
        assert decide(case) == Nothing()


def test_all_golden_tables_with_one_stream_are_there():
    assert len(TABLES) >= 38


@pytest.mark.parametrize("version", ["1.15.3", "2.7.2", "3.1.3", "3.5.1"])
@pytest.mark.parametrize("initial", ["LATEST", "TRIM_HORIZON"])
def test_finished_rows_removed_as_the_library_does_leave_a_clean_table(version, initial):
    """LeaseCleanupManager deletes a finished lease once its children's have progressed."""
    folder = GOLDEN / version / "g5-second-generation"
    ended = {"S": "SHARD_END"}
    oldest = "shardId-000000000000"
    only_oldest = case_of(
        folder, {"initial": initial}, lambda i: i["leaseKey"]["S"] == oldest
    )
    assert above_info(only_oldest) == []
    # Shard 5 has no record yet and stands at TRIM_HORIZON, so the library keeps shard 2's row;
    # with 0 alone gone the lineage still has its second generation.
    assert [r["S"] for i in only_oldest.images if (r := i.attributes.get("checkpoint")) == ended]


@pytest.mark.parametrize("version", ["1.15.3", "2.7.2", "3.1.3", "3.5.1"])
@pytest.mark.parametrize("initial", ["LATEST", "TRIM_HORIZON"])
def test_every_finished_row_removed(version, initial):
    """More than the library would: shard 5 has not begun, but 4 has, which 2 held back."""
    folder = GOLDEN / version / "g5-second-generation"
    case = case_of(
        folder, {"initial": initial}, lambda i: i.get("checkpoint") == {"S": "SHARD_END"}
    )
    assert above_info(case) == []
    assert decide(case) == Nothing()


def story(version: str, name: str):
    case = case_of(GOLDEN / version / name, {"initial": "TRIM_HORIZON", "release": version})
    checkpoint = case.consumer.parse(case.images)
    lineage = case.state.lineage
    (run,) = [case.consumer.simulate_start(lineage, checkpoint, c.app) for c in case.candidates]
    return run.fates


@pytest.mark.parametrize("version", ["1.15.3", "2.7.2", "3.1.3", "3.5.1"])
def test_split_parent_finished(version):
    """g3: "Shard 0 was split and read to its end; child 2 is at s2-1, child 3 at TRIM_HORIZON"."""
    fates = story(version, "g3-split-parent-finished")
    records = json.loads(
        (GOLDEN / version / "g3-split-parent-finished" / "records.json").read_text()
    )
    second = {p: n for n, p in records["shardId-000000000002"]}["s2-1"]
    assert fates["shardId-000000000002"].at.lo.text == second
    assert fates["shardId-000000000003"].at.lo == START
    assert fates["shardId-000000000000"].ends


@pytest.mark.parametrize("version", ["1.15.3", "2.7.2", "3.5.1"])
def test_merge_one_parent_finished(version):
    """g4: "Parent 0 is finished, parent 1 is at s1-1; the child lease waits"."""
    fates = story(version, "g4-merge-one-parent-finished")
    child = fates["shardId-000000000002"]
    assert isinstance(child, WillRead)
    assert child.after == {"shardId-000000000001"}
    assert child.at.lo == START


@pytest.mark.parametrize("version", ["1.15.3", "2.7.2", "3.5.1"])
def test_untouched_at_latest(version):
    """g10: "has started on an empty stream and has read nothing"."""
    case = case_of(GOLDEN / version / "g10-latest-untouched", {})
    assert all(span.lo == TIP for span in processed_frontier(case).values())
