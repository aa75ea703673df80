"""A plan that still has the same steps, and would do more harm than it showed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.commands.survey import survey
from reshardctl.errors import StalePlan
from reshardctl.execution import proof
from reshardctl.execution.plan_file import SavedPlan, of_report
from reshardctl.execution.proof import require_promises, require_same, still_proven, unplanned
from reshardctl.model import Create, Image, Step, Write, shard_id
from reshardctl.planning.plan import Plan
from reshardctl.report.report import RepairOptions, Report
from tests.unit.execution.test_live import Scene


@pytest.fixture
def made(tmp_path: Path) -> tuple[SavedPlan, Report]:
    scene = Scene("h", tmp_path / "journal", {})
    report = survey(scene.ports, "orders", scene.place, RepairOptions())
    plan = of_report(report, probe=False)
    assert plan.promised != ((),), "else it would have nothing to promise"
    return plan, report


def test_harm_that_was_not_shown_makes_a_plan_stale(made: tuple[SavedPlan, Report]) -> None:
    plan, report = made
    assert still_proven(plan, report, live=False) == list(plan.steps)
    silent = replace(plan, promised=((),))
    with pytest.raises(StalePlan, match=r"the plan is stale: shardId-0+ would be re-read"):
        still_proven(silent, report, live=False)


@pytest.mark.parametrize(("seconds", "store", "why"), [
    (1, {}, "deleted and recreated"), (-1, {}, "deleted and recreated"),
    (0, {"arn": "arn:aws:dynamodb:eu-west-1:1:table/another"}, "made for another store.*another"),
    (0, {"id": "a table made again"}, "made for another store$"),
])  # fmt: skip
def test_a_plan_is_of_one_stream_and_one_store(made, seconds, store, why):
    plan, report = made
    lineage = report.snapshot.lineage
    require_same(plan, lineage, plan.store)
    stale = replace(plan, created=plan.created + seconds)
    with pytest.raises(StalePlan, match=why):
        require_same(stale, lineage, {**plan.store, **store})


@pytest.mark.parametrize(("live", "name", "stale"), [
    (False, "checkpoint", True), (True, "checkpoint", False), (True, "parentShardId", True),
])  # fmt: skip
def test_a_child_that_changed_makes_the_plan_of_its_parent_stale(made, live, name, stale):
    """A running consumer reads on; the parents of its leases stay (`Spec.reading`)."""
    plan, report = made
    child = shard_id(2)
    images = [
        Image(row.key, {**row.attributes, name: {"S": "7"}}) if row.key == child else row
        for row in report.snapshot.images
    ]
    now = replace(report, snapshot=replace(report.snapshot, images=images))
    if not stale:
        assert still_proven(plan, now, live) == list(plan.steps)
        return
    with pytest.raises(StalePlan, match=f"the plan is stale: row {child} changed since"):
        still_proven(plan, now, live)


def test_harm_that_was_not_shown_ends_a_resumed_fix(made: tuple[SavedPlan, Report]) -> None:
    plan, report = made
    rest = list(plan.steps)
    assert require_promises(plan, report.snapshot, rest, "reshardctl undo J").steps == plan.steps
    silent = replace(plan, promised=((),))
    with pytest.raises(StalePlan, match=r"continuing would leave shardId-0+ re-read") as caught:
        require_promises(silent, report.snapshot, rest, "reshardctl undo J")
    assert caught.value.next.startswith("reshardctl undo J")
    for promised in ((), plan.promised * 2):  # of no release, and of one more
        with pytest.raises(StalePlan, match="the current rows indicate another release"):
            require_promises(replace(plan, promised=promised), report.snapshot, rest, "undo J")


def test_the_rows_that_the_next_plan_would_overwrite_are_told(made):
    """After a fix there are none, unless somebody has put back what it wrote."""
    plan, report = made
    assert isinstance(report.decision, Plan)
    assert unplanned(plan, report) == ", ".join(step.title for step in plan.steps)


def test_what_was_written_before_the_last_barrier_that_was_passed_stays():
    """The consumer went on from it; what it has not passed yet is as if it were not written."""
    rows = [Image(f"offsets/{n}", {"text": {"S": str(n)}}) for n in (1, 2, 3)]
    plan: Any = SimpleNamespace(steps=tuple(
        Step("s", (Write(row.key, Create(row.attributes), None, ""),), barrier=barrier)
        for row, barrier in zip(rows, ("", "commits/1", "commits/2"), strict=True)
    ))
    passed = [Image("commits/1", {}), Image("commits/2", {})]
    now: Any = SimpleNamespace(
        images=[*passed, *rows],
        locator=SimpleNamespace(spec=SimpleNamespace(volatile_attributes=frozenset())),
    )
    assert proof._without_the_plan(plan, now) == [*passed, *rows[:2]]
    now.images = [passed[0], *rows[:2]]
    assert proof._without_the_plan(plan, now) == [passed[0], rows[0]]
