"""leaseCounter at the end of its range: what KCL makes of it, and what a fix leaves.

DynamoDBLeaseSerializer: 1.x and 2.x write the next counter as Java's long has it, and so do the
renewals of 3.x; but where 3.x assigns a lease, DynamoDB adds one (getDynamoAssignLeaseUpdate), and
what is behind the last long cannot be read (DynamoUtils.safeGetLong).
"""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.model import Image, writes_of
from reshardctl.planning.plan import Nothing, Plan
from reshardctl.testing import load_topology
from tests.proof.drawn.states import rows_of
from tests.proof.reference.kcl import Run, run
from tests.support.case import CASES, load
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench, delivered

CASE = load(CASES / "kcl" / "latest-number-elsewhere.toml")
LAST = 2**63 - 1
STORED = [f"s0-{n}" for n in range(4)]


def _items(counter: int, checkpoint: str) -> list[dict[str, Any]]:
    """Shard 0's row with this counter; shard 1's is as it should be."""
    own, other = CASE.items()
    own = {**own, "checkpoint": {"S": checkpoint}, "leaseCounter": {"N": str(counter)}}
    return [own, {**other, "checkpoint": {"S": "TRIM_HORIZON"}}]


def _bench(items: list[dict[str, Any]], release: str) -> Bench:
    return Bench.on(CASE, images_of(items), {"initial": "TRIM_HORIZON", "release": release})


def _run(images: list[Image], release: str) -> Run:
    rows = list(rows_of(images).values())
    return run(load_topology(CASE.stream), CASE.stream["name"], rows, "TRIM_HORIZON", release)


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.1.3", "3.5.1"])
@pytest.mark.parametrize("counter", [LAST, LAST - 1, LAST - 2**61])
def test_after_a_fix_kcl_reads_the_row_and_counts_on(counter: int, release: str) -> None:
    wrong = CASE.number_of("s1-0")  # another shard's, so that the row is written
    found = _bench(_items(counter, wrong), release)
    decision = found.decide()
    assert isinstance(decision, Plan)
    after = found.after(decision.steps)
    (counted,) = [i.attributes["leaseCounter"] for i in after if i.key.endswith("0")]
    assert counted == {"N": "0"}
    ran = _run(after, release)
    assert not ran.died and not ran.stuck
    assert ran.delivered["shardId-000000000000"] == STORED
    assert isinstance(_bench(list(rows_of(after).values()), release).decide(), Nothing)


def test_any_other_counter_grows_by_one() -> None:
    found = _bench(_items(7, CASE.number_of("s1-0")), "3.5.1")
    decision = found.decide()
    assert isinstance(decision, Plan)
    (write,) = writes_of(decision.steps)
    assert write.change.add == {"leaseCounter": 1}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("release", "reads"), [("1.15.3", True), ("2.7.2", True), ("3.1.3", False), ("3.5.1", False)]
)
def test_the_last_counter_is_one_too_many_for_3_x(release: str, reads: bool) -> None:
    items = _items(LAST, "TRIM_HORIZON")
    found = _bench(items, release)
    (simulation,) = found.replays()
    said = delivered(CASE, simulation, found.plan_case.state.lineage)["shardId-000000000000"]
    ran = _run(images_of(items), release)
    assert [p for p in said if p in STORED] == ran.delivered.get("shardId-000000000000", [])
    assert bool(said) is reads
    assert bool([f for f in found.findings() if f.shards]) is not reads
    decision = found.decide()
    assert isinstance(decision, Nothing if reads else Plan)
    if isinstance(decision, Plan):
        ran = _run(found.after(decision.steps), release)
        assert ran.delivered["shardId-000000000000"] == STORED


def test_workers_that_assign_leases_as_2_x_does_count_as_java_does() -> None:
    """LeaseTaker, in CLIENT_VERSION_UPGRADE_FROM_2X (MigrationStateMachineImpl of 3.5.1)."""
    migration = {
        "leaseKey": {"S": "Migration3.0"}, "entityType": {"S": "CLIENT_VERSION_MIGRATION"},
        "cv": {"S": "CLIENT_VERSION_UPGRADE_FROM_2X"}, "mb": {"S": "w"}, "mts": {"N": "1"},
    }
    found = _bench([*_items(LAST, "TRIM_HORIZON"), migration], "3.5.1")
    assert not [f for f in found.findings() if f.shards]
