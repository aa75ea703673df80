"""Workflow commands, read back as GitHub's runner reads them.

actions/runner, ActionCommand.TryParseV2: `::name key=value,key=value::data` at the start of a
line; properties are split at `,` and `=`, then %0D %0A %3A %2C %25 are decoded, in data %0D %0A
%25. What escapes them: actions/toolkit, packages/core/src/command.ts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from reshardctl.errors import HalfDone, StalePlan
from reshardctl.render.context import Context
from reshardctl.render.formats.github import LONGEST
from reshardctl.report.results import Fixed, Saved, Undoing
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import (
    by_name,
    context,
    report_of,
    then,
    with_row,
)

GITHUB = FORMATS["github"]
OPTIONS = "initial=LATEST&release=3.5.1"
LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
DATA = {"%0D": "\r", "%0A": "\n", "%25": "%"}
PROPERTY = DATA | {"%3A": ":", "%2C": ","}


@dataclass
class Command:
    name: str
    properties: dict[str, str]
    data: str


def read(shown: str) -> list[Command]:
    """Every line is a command; anything else fails."""
    assert shown.endswith("\n")
    return [_read(line) for line in shown.split("\n")[:-1]]


def _read(line: str) -> Command:
    assert line.startswith("::") and "\r" not in line
    head, mark, data = line[2:].partition("::")
    assert mark
    name, _, rest = head.partition(" ")
    pairs = (part.split("=", 1) for part in rest.split(","))
    return Command(name, {k: decoded(v, PROPERTY) for k, v in pairs}, decoded(data, DATA))


def decoded(text: str, codes: dict[str, str]) -> str:
    """In the runner's order: `%25` last, so that an escaped `%250A` is `%0A` again."""
    for code, character in codes.items():
        if code != "%25":
            text = text.replace(code, character)
    return text.replace("%25", "%")


@by_name
def test_an_annotation_for_every_finding_and_one_that_counts(name):
    report = report_of(name)
    *found, last = read(GITHUB.inspect(report, context(report)))
    assert [(c.name, c.properties) for c in found] == [
        (LEVELS[str(f.severity)], {"title": f"{f.code} {f.name}"}) for f in report.findings
    ]
    for command in found:
        assert command.data.startswith(f"{report.snapshot.locator.text}\n")
        assert re.search(r"(?m)^Fix: \S", command.data)
    assert (last.name, last.properties) == ("notice", {"title": "reshardctl inspect"})
    assert report.findings or "No findings." in last.data


def test_a_plan_a_fix_and_an_undo_are_one_notice_each():
    report = report_of("a-both", OPTIONS)
    steps, after = report.decision.steps, then(report)
    shown = {
        "reshardctl fix": GITHUB.plan(report, context(report), saved=Saved("o.plan", "0f" * 32)),
        "reshardctl fix: written": GITHUB.fixed(
            Fixed(report, after, steps, "/j", 1), context(report)
        ),
        "reshardctl undo": GITHUB.undo(Undoing(after, report, steps, "/j"), context(report)),
    }
    for title, text in shown.items():
        (command,) = read(text)
        assert (command.name, command.properties["title"]) == ("notice", title)
    assert "2 create - -> TRIM_HORIZON" in read(shown["reshardctl fix"])[0].data
    assert "plan saved in o.plan" in read(shown["reshardctl fix"])[0].data
    assert "journal /j" in read(shown["reshardctl fix: written"])[0].data


def test_failures_are_errors():
    (refused,) = read(GITHUB.error(StalePlan("100% moved", "plan again"), Context()))
    assert refused == Command("error", {"title": "reshardctl: refused"}, "100% moved\nplan again")
    shown = GITHUB.error(StalePlan("a: b, c", "d"), Context())
    assert shown == "::error title=reshardctl%3A refused::a: b, c%0Ad\n"
    (half,) = read(GITHUB.error(HalfDone("stopped", "resume", "/j"), Context()))
    assert half.data == "stopped\nresume\njournal /j"


@pytest.mark.parametrize(("text", "said"), [
    ("x\n::error::faked", "x\\n:\\x3aerror::faked"), ("%25%0D", "%25%0D"),
    ("x%0A::error::faked", "x%0A:\\x3aerror::faked"), ("title=a,b:c", "title=a,b:c"),
    ("\r\n::stop-commands::x", "\\r\\n:\\x3astop-commands::x"),
    ("::add-mask::e", ":\\x3aadd-mask::e"), ("##[add-mask]e", "#\\x23[add-mask]e"),
])
def test_a_row_makes_no_command(text, said):
    """As many lines as without it. The text comes back, line ends and commands spelled out."""
    report = report_of("a-both", OPTIONS, items=with_row(text, text))
    assert text in "".join(image.key for image in report.snapshot.images)
    commands = read(GITHUB.inspect(report, context(report)))
    assert len(commands) == len(report.findings) + 1
    assert any(said in command.data for command in commands)


def test_a_flood_fits_into_an_annotation():
    """actions/runner, ExecutionContext: messages of more than 4096 characters are cut."""
    report = report_of("a-both", OPTIONS, items=with_row("k", "z" * 9000))
    for command in read(GITHUB.inspect(report, context(report, verbose=True))):
        assert len(command.data) <= LONGEST + 40 < 4096
