"""Findings that count: how many of each severity, what of the whole consumer, what a plan mends."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.auditing.sink_frontier import SinkFrontier
from reshardctl.codec.argv import words
from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.rules import Finding
from reshardctl.diagnosis.rules.base import Severity
from reshardctl.model import ShardId, shard_id, writes_of
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import NoSafePlan, Plan
from reshardctl.planning.policy import LATEST_AT_START
from reshardctl.report.changes import mending, shards_moved, shards_written
from reshardctl.report.report import RepairOptions, make
from reshardctl.report.scope import ScopeOptions
from reshardctl.report.status import StatusSelection, status_of
from tests.support.case import CASES, load
from tests.support.dialects import dialect_of
from tests.support.judging import lineage_of
from tests.unit.render.samples import report_of

ONE = shard_id(1)


def finding(code: str, severity: Severity, *shards: ShardId) -> Finding:
    return Finding(code, "a-rule", severity, shards, "what it is")


CRASH = replace(
    finding("RSH201", Severity.ERROR, ONE), effects=(Effect(Harm.CRASHES, None, True, by=(ONE,)),)
)
LOST = finding("RSH203", Severity.ERROR, ONE)


@pytest.mark.parametrize(("options", "whole"), [
    (ScopeOptions(), True), (ScopeOptions(shards=("1",)), True),
    (ScopeOptions(rules=("RSH201",)), True), (ScopeOptions(rules=("RSH203",)), False),
    (ScopeOptions(not_rules=("RSH203",)), True), (ScopeOptions(not_rules=("RSH201",)), False),
])  # fmt: skip
def test_a_crash_takes_part_unless_rules_leave_it_out(options: ScopeOptions, whole: bool) -> None:
    parted = options.parted([CRASH, LOST], [ONE, shard_id(2)])
    assert parted.scope is not None and parted.scope.whole is whole


def test_a_selection_is_spelled_with_its_shards_in_one_word() -> None:
    chosen = ScopeOptions(shards=("0", "4-6"), rules=("RSH203", "RSH204"))
    assert words(chosen) == ("--shards", "0,4-6", "--rule", "RSH203", "--rule", "RSH204")


def test_shards_take_part_in_a_crash_whatever_is_found() -> None:
    """It may come from what is written, too."""
    scope = ScopeOptions(shards=("1",)).parted([LOST], [ONE]).scope
    assert scope is not None and scope.whole


def test_findings_are_counted_by_severity() -> None:
    found = [
        finding(f"RSH{n}", severity, ONE) for n, severity in enumerate(
            [Severity.INFO] * 3 + [Severity.WARNING] * 2 + [Severity.ERROR], 201
        )
    ]
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    counts = status_of(report, found, StatusSelection()).counts()
    assert counts == {"error": 1, "warning": 2, "info": 3}


def test_a_shard_shows_its_codes_gravest_first() -> None:
    found = [
        finding("RSH201", Severity.INFO, ONE, ONE), finding("RSH305", Severity.ERROR, ONE),
        finding("RSH203", Severity.ERROR, ONE, shard_id(2)),
    ]
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    rows = {row.shard: row for row in status_of(report, found, StatusSelection()).rows}
    assert rows[ONE].rules == ("RSH203", "RSH305", "RSH201")
    assert (rows[ONE].verdict, rows[shard_id(2)].rules) == (Severity.ERROR, ("RSH203",))


def test_another_finding_that_remains_on_a_shard_does_not_keep_one_from_being_mended() -> None:
    """After the plan of d2, RSH204 is left on shard 0 (the case): it alone."""
    report = report_of("d2", "initial=LATEST&release=3.5.1")
    assert isinstance(report.decision, Plan)
    mended = {
        code: mending(report, finding(code, Severity.WARNING, shard_id(0))).mended
        for code in ("RSH203", "RSH204", "RSH305")
    }
    assert mended == {"RSH203": True, "RSH204": False, "RSH305": True}


@pytest.mark.parametrize(("options", "nothing_left"), [
    (RepairOptions(), True), (RepairOptions(LATEST_AT_START), False),
    (RepairOptions(bootstrap=True), False), (RepairOptions(line=SinkFrontier("/lake", {})), False),
])  # fmt: skip
def test_warnings_that_no_position_can_mend_leave_nothing_unless_more_was_asked(
    options: RepairOptions, nothing_left: bool
) -> None:
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    warning = finding("RSH201", Severity.WARNING, ONE)
    unable = replace(report, decision=NoSafePlan("no row", ()), findings=(warning,))
    assert replace(unable, options=options).nothing_left is nothing_left
    assert not replace(unable, findings=(LOST,)).nothing_left


def test_of_a_row_of_many_shards_those_move_whose_position_changes() -> None:
    """In Spark's batch the open shard 1 is marked as ended, and 0 stands in its middle (the case).
    """
    case = load(CASES / "spark" / "false-end-awslabs-2.toml")
    stream = lineage_of(case.shards, case.stream["created"])
    rows = tuple(dialect_of("spark").images(case))
    snapshot = Snapshot(parse("spark:/c"), stream, rows, {}, float(case.now))
    report = make(snapshot, RepairOptions())
    assert isinstance(report.decision, Plan)
    (write,) = writes_of(report.decision.steps)
    assert shards_written(report, write) == (shard_id(0), ONE)
    assert shards_moved(report, write) == (ONE,)


def test_a_row_of_one_shard_moves_that_shard() -> None:
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    assert isinstance(report.decision, Plan)
    moved = [shards_moved(report, write) for write in writes_of(report.decision.steps)]
    assert sorted(moved) == [(shard_id(2),), (shard_id(3),)]
