"""One line a finding, and a mark that keeps its promise."""

from __future__ import annotations

import re

from reshardctl.diagnosis.rules import Severity
from reshardctl.planning.plan import Plan
from reshardctl.render.content.lines import inspect_lines, plan_lines
from reshardctl.report.results import Fixed
from tests.support.grouped import by_case
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import SHOWN, by_name, context, every_expectation, report_of, then

LINE = re.compile(
    r"kcl://orders-app\S*: (?P<shards>\S+) (?P<code>RSH\d{3})(?P<mark> \[\*\])? "
    r"(?P<name>[a-z-]+): (?P<what>.+) \((?P<harm>[^()]+)\)"
)
STATE = re.compile(r": (planned|refused|left|note|nothing to write)\b")
DONE = re.compile(r": (wrote|left|note): ")
MARKED = [e for e in every_expectation() if e[2][1].fixed is not None]


@by_name
def test_one_line_a_finding(name):
    report = report_of(name)
    lines = inspect_lines(report)
    assert len(lines) == len(report.findings)
    for line, finding in zip(lines, report.findings, strict=True):
        found = LINE.fullmatch(line)
        assert found is not None, line
        assert (found["code"], found["name"]) == (finding.code, finding.name)
        assert found["harm"].split(", ")[0] == str(finding.severity)


@by_case(MARKED, SHOWN)
def test_the_mark_promises_what_the_case_says_of_the_fix(case, expect, options):
    """`[*]` stands on exactly the codes that the case no longer expects after the fix."""
    policy = expect.fixed.policy
    report = report_of(case.name, options, policy)
    grave = [f for f in report.findings if f.severity >= Severity.WARNING]
    lines = inspect_lines(report)[: len(grave)]
    marked = {f.code for f, line in zip(grave, lines, strict=True) if " [*] " in line}
    fixed = isinstance(report.decision, Plan)
    assert marked == ({f.code for f in grave} - expect.fixed.remains if fixed else set())


def test_a_finding_line_as_a_pipe_sees_it():
    report = report_of("a-both", "initial=LATEST&release=2.7.2")
    assert FORMATS["concise"].inspect(report, context(report)) == (
        "kcl://orders-app?initial=LATEST&release=2.7.2: 2,3 RSH203 [*] child-not-started: "
        "the parents have ended, there is no position, and nothing will ever make one "
        "(error, never read, loss from 2026-11-22T00:10:01Z)\n"
    )


def test_plan_lines():
    report = report_of("b", "initial=LATEST&release=2.7.2")
    place = report.snapshot.locator.text
    assert plan_lines(report) == [
        f"{place}: planned: 0 create - -> TRIM_HORIZON "
        "(re-reads up to 11m of records)",
        f"{place}: planned: 2 move LATEST -> TRIM_HORIZON (skips nothing, re-reads nothing)",
        f"{place}: planned: 3 move LATEST -> TRIM_HORIZON (skips nothing, re-reads nothing)",
    ]


def test_why_there_is_no_plan():
    (asked,) = plan_lines(report_of("full-trimmed-parent-timestamp", "initial=LATEST"))
    assert asked.startswith(
        "kcl://orders-app?initial=LATEST: refused: no plan: release has to be known: "
    )
    (no_line,) = plan_lines(report_of("foreign-rows", "release=2.7.2"))
    assert ": left: no plan: KCL 2.7.2 crashes on the rows" in no_line
    assert "start the application with KCL 3.5 or later" in no_line
    assert plan_lines(report_of("h-long")) == [
        "kcl://orders-app: left: 0 re-reads up to 3h1m of records (--accept reread=3h30m)"
    ]
    assert plan_lines(report_of("c")) == ["kcl://orders-app: nothing to write"]


def test_a_clean_report_is_one_line():
    report = report_of("healthy-roots")
    shown = FORMATS["concise"].inspect(report, context(report))
    assert shown == "kcl://orders-app: no findings\n"


@by_case(MARKED, SHOWN)
def test_each_line_of_a_fix_says_what_became_of_it(case, expect, options):
    report = report_of(case.name, options, expect.fixed.policy)
    plan = FORMATS["concise"].plan(report, context(report))
    assert plan and all(STATE.search(line) for line in plan.splitlines()), plan
    if isinstance(report.decision, Plan):
        outcome = Fixed(report, then(report), report.decision.steps, "j.jsonl", 1)
        done = FORMATS["concise"].fixed(outcome, context(report))
        assert all(DONE.search(line) for line in done.splitlines()), done
