"""Lease tables that the real KCL wrote: none is broken, so none may give more than information.

Each scenario's README.md tells what had happened; the story told here is checked against it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.model import START, TIP, WillRead
from reshardctl.planning.plan import Case, Nothing, decide, processed_frontier
from tests.support.golden_tables import GOLDEN, above_info, golden_case

TABLES = sorted(
    path.parent for version in ("1.13.3", "1.15.3", "2.7.2", "3.1.3", "3.5.1")
    for path in (GOLDEN / version).glob("*/leases.json")
    if (path.parent / "shards.json").exists()
)
SENTINELS = {"g10-latest-untouched": "LATEST", "g11-at-timestamp-untouched": "AT_TIMESTAMP"}


def case_of(folder: Path, options: dict[str, str], drop=lambda _item: False) -> Case:
    return golden_case(folder, None, options, lambda items: [i for i in items if not drop(i)])


def starts(folder: Path) -> list[dict[str, str]]:
    if folder.name in SENTINELS:
        return [{}, {"initial": SENTINELS[folder.name]}]
    return [{}, {"initial": "LATEST"}, {"initial": "TRIM_HORIZON"}]


@pytest.mark.parametrize("folder", TABLES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_table_that_nothing_broke_is_clean(folder):
    for options in starts(folder):
        case = case_of(folder, options)
        assert above_info(case) == set()
        assert decide(case) == Nothing()


def test_all_golden_tables_with_one_stream_are_there():
    assert len(TABLES) >= 38


@pytest.mark.parametrize("version", ["1.15.3", "2.7.2", "3.1.3", "3.5.1"])
@pytest.mark.parametrize("initial", ["LATEST", "TRIM_HORIZON"])
@pytest.mark.parametrize(("attribute", "value"), [
    # As LeaseCleanupManager does it: shard 5 stands at TRIM_HORIZON, so it keeps the row of 2.
    ("leaseKey", "shardId-000000000000"),
    # More than it would: shard 5 has not begun, but 4 has, which 2 held back.
    ("checkpoint", "SHARD_END"),
])  # fmt: skip
def test_finished_rows_removed_leave_a_clean_table(attribute, value, version, initial):
    case = case_of(GOLDEN / version / "g5-second-generation", {"initial": initial},
                   lambda item: item.get(attribute) == {"S": value})  # fmt: skip
    assert above_info(case) == set()
    assert decide(case) == Nothing()
    ended = [i for i in case.images if i.attributes.get("checkpoint") == {"S": "SHARD_END"}]
    assert bool(ended) is (attribute == "leaseKey")


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
