"""Findings that count: how many of each severity, what of the whole consumer, what a plan mends."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.diagnosis.rules import Finding
from reshardctl.diagnosis.rules.base import Severity
from reshardctl.model import ShardId, shard_id
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Plan
from reshardctl.report.changes import mending
from reshardctl.report.scope import ScopeOptions
from reshardctl.report.status import StatusSelection, status_of
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


def test_another_finding_that_remains_on_a_shard_does_not_keep_one_from_being_mended() -> None:
    """After the plan of d2, RSH204 is left on shard 0 (the case): it alone."""
    report = report_of("d2", "initial=LATEST&release=3.5.1")
    assert isinstance(report.decision, Plan)
    mended = {
        code: mending(report, finding(code, Severity.WARNING, shard_id(0))).mended
        for code in ("RSH203", "RSH204", "RSH305")
    }
    assert mended == {"RSH203": True, "RSH204": False, "RSH305": True}
