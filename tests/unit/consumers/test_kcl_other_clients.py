"""Lease tables of clients that are not AWS's: a forecast for KCL, and it says so.

The rows: `toDynamoItem`, `claimLease` and `updateCheckpoint` of DynamoDbLeaseRepository in
svroonland/zio-kinesis @b338526; README of disney/kcl-rust, "Creating".
"""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.consumers import locator as locators
from reshardctl.consumers.kcl.rows import parse
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.report.report import RepairOptions, make
from tests.support.case import CASES, load
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench, lineage_of

KCL = CONSUMERS["kcl"]
CASE = load(CASES / "kcl" / "a-both.toml")
"""Shard 0 was split into 2 and 3, and shard 1 is open."""
SWITCHES = "ownerSwitchesSinceCheckpoint"


def row(shard: int, checkpoint: str, **more: Any) -> dict[str, Any]:
    return {
        "leaseKey": {"S": f"shardId-{shard:012d}"}, "checkpoint": {"S": checkpoint},
        "leaseCounter": {"N": "900"}, "checkpointSubSequenceNumber": {"N": "0"}, **more,
    }


def zio(shard: int, checkpoint: str, *, parents: tuple[int, ...] = (), new: bool = False) -> Any:
    """As zio-kinesis makes it, and unless it is new, as it has written a checkpoint of it."""
    more: dict[str, Any] = {} if new else {SWITCHES: {"N": "0"}}
    if parents:
        more["parentShardIds"] = {"SS": [f"shardId-{parent:012d}" for parent in parents]}
    return row(shard, checkpoint, **more)


def judged(items: list[dict[str, Any]], release: str = "2.7.2") -> Bench:
    return Bench.on(CASE, images_of(items), {"initial": "TRIM_HORIZON", "release": release})


def caveats(items: list[dict[str, Any]]) -> list[str]:
    return list(KCL.caveats(parse(images_of(items))))


def number() -> str:
    """A number of shard 1 that the case holds."""
    return next(i["checkpoint"]["S"] for i in CASE.items() if i["checkpoint"]["S"].isdigit())


TABLE = [
    zio(0, "SHARD_END"), zio(1, number()), zio(2, "TRIM_HORIZON", parents=(0,)),
    zio(3, "TRIM_HORIZON", parents=(0,), new=True),
]


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
def test_a_new_lease_of_zio_kinesis_crashes_nobody(release: str) -> None:
    found = judged(TABLE, release)
    (run,) = found.replays()
    assert run.crash is None and "RSH301" not in {f.code for f in found.findings()}
    (note,) = caveats(TABLE)
    assert "judged as if KCL started on them" in note and "could not read shard 3" in note


def test_the_same_row_crashes_kcl_where_nothing_shows_another_client() -> None:
    items = [{k: v for k, v in item.items() if k != "parentShardIds"} for item in TABLE]
    (run,) = judged(items).replays()
    assert run.crash is not None and run.crash.certain


def test_it_crashes_kcl_that_runs_beside() -> None:
    """KCL gives every lease its hash range (PeriodicShardSyncManager)."""
    ranged = {"startingHashKey": {"S": "0"}, "endingHashKey": {"S": "9"}}
    (run,) = judged([{**TABLE[0], **ranged}, *TABLE[1:]]).replays()
    assert run.crash is not None and run.crash.certain


def test_another_flaw_of_such_a_row_is_still_one() -> None:
    mistyped = {**TABLE[2], SWITCHES: {"S": "0"}}
    (run,) = judged([*TABLE[:2], mistyped, TABLE[3]]).replays()
    assert run.crash is not None and SWITCHES in run.crash.why


def test_the_time_of_kcl_rust_is_told() -> None:
    timed = row(2, "AT_TIMESTAMP", checkpointSubSequenceNumber={"N": "1795219200000"},
                **{SWITCHES: {"N": "0"}})  # fmt: skip
    (note,) = caveats([TABLE[0], TABLE[1], timed])
    assert "kcl-rust" in note and "2026-11-21T00:00:00Z" in note
    assert caveats(TABLE[:2]) == []


def test_the_report_says_it_in_front() -> None:
    """Not only with -v: the forecast is KCL's, and another client runs."""
    locator = locators.parse("kcl://app?initial=TRIM_HORIZON&release=2.7.2")
    lineage = lineage_of(CASE.shards, CASE.stream["created"])
    snapshot = Snapshot(locator, lineage, tuple(images_of(TABLE)), {}, float(CASE.now))
    (caveat,) = make(snapshot, RepairOptions()).caveats
    assert caveat.startswith("zio-kinesis has written the rows")
