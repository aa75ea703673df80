"""What `fix` did on purpose is no finding afterwards: a policy's own skip (RSH203), the numbers of
an earlier stream that `--recreated` has put away (RSH102)."""

from __future__ import annotations

import pytest

from reshardctl.commands.target import policy_of
from reshardctl.diagnosis.rules import Severity
from reshardctl.planning.plan import Nothing, Plan
from reshardctl.report.report import RepairOptions
from tests.support.case import all_cases
from tests.support.inspected_case import ALL, Bench

RELEASE = "3.5.1"
CASES = all_cases("kcl")
NOT_STARTED = [c for c in CASES if any("RSH203" in e.findings for e in c.expects)]
RECREATED = [c for c in CASES if c.name.startswith("recreated")]


@pytest.mark.parametrize("policy", ["latest", "at-timestamp=-10m"])
@pytest.mark.parametrize("case", NOT_STARTED, ids=lambda case: case.name)
def test_a_policy_s_skip_is_no_child_that_was_not_started(case, policy):
    first = Bench(case, "LATEST", RELEASE)
    holds(first, RepairOptions(policy_of(policy), ALL))


@pytest.mark.parametrize("initial", ["LATEST", "TRIM_HORIZON"])
@pytest.mark.parametrize("case", RECREATED, ids=lambda case: case.name)
def test_a_recreated_stream_s_rows_are_not_another_s_once_they_are_put_to_a_beginning(
    case, initial
):
    first = Bench(case, initial, RELEASE)
    holds(first, RepairOptions(policy_of("lossless"), ALL, recreated=case.stream["created"]))


def holds(first: Bench, repair_options: RepairOptions) -> None:
    """The plan is made, and the next look without a policy finds nothing."""
    report = first.look(repair_options)
    assert isinstance(report.decision, Plan)
    items = first.fixed(report)
    again = Bench(first.case, first.initial, RELEASE, items=items).look(
        RepairOptions(policy_of("lossless"), ALL)
    )
    assert [f.code for f in again.findings if f.severity >= Severity.WARNING] == []
    assert isinstance(again.decision, Nothing)
