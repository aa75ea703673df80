"""`--format diff`: the rows as a unified diff, from which both states of each row can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from reshardctl.model import Create, Delete, Image, Step, Update, Write
from reshardctl.planning.plan import Plan
from reshardctl.render.content.writes import row_diffs
from reshardctl.render.context import Context
from reshardctl.render.formats import write
from reshardctl.report.results import Planned
from tests.support.case import all_cases
from tests.support.covering import few
from tests.support.dialects import dialect_of
from tests.support.judging import Bench, options_of
from tests.unit.render.samples import report_of

CONSUMERS = ("kcl", "kinsumer", "kinesis-consumer", "quickwit", "spark")


def image(key: str, **attributes: str) -> Image:
    return Image(key, {name: {"S": value} for name, value in attributes.items()})


def test_a_row_that_changes_one_that_comes_and_one_that_goes() -> None:
    moved = Write("a", Update({"position": {"S": "2"}}, ("note",)),
                  image("a", position="1", note="x", shard="a"), "")  # fmt: skip
    made = Write("b", Create({"position": {"N": "7"}}), None, "")
    gone = Write("c", Delete(), image("c", position="3"), "")
    assert list(row_diffs([Step("", (moved, made)), Step("", (gone,))])) == [
        "--- a", "+++ a", "@@ -1,3 +1,2 @@", '-note = {"S": "x"}', '-position = {"S": "1"}',
        '+position = {"S": "2"}', ' shard = {"S": "a"}',
        "--- /dev/null", "+++ b", "@@ -0,0 +1 @@", '+position = {"N": "7"}',
        "--- c", "+++ /dev/null", "@@ -1 +0,0 @@", '-position = {"S": "3"}',
    ]  # fmt: skip


def test_a_row_that_two_steps_write_has_one_diff() -> None:
    first = Write("a", Update({"position": {"S": "2"}}), image("a", position="1"), "")
    second = Write("a", Update({"position": {"S": "3"}}), image("a", position="2"), "")
    assert list(row_diffs([Step("", (first,)), Step("", (second,))])) == [
        "--- a", "+++ a", "@@ -1 +1 @@", '-position = {"S": "1"}', '+position = {"S": "3"}',
    ]  # fmt: skip


def test_no_text_of_a_store_breaks_a_line_or_ends_a_diff() -> None:
    row = image("a\n+++ b", text="v1\nx\x1b[2J\n--- c")
    shown = list(row_diffs([Step("", (Write(row.key, Delete(), row, ""),))]))
    assert shown[3:] == [
        '-text = {"S": "v1\\n"}', '-text + {"S": "x\\u001b[2J\\n"}', '-text + {"S": "--- c"}',
    ]  # fmt: skip


def plans(consumer: str) -> Iterator[Bench]:
    cases = tuple(all_cases(consumer))
    for case in (case for case in cases if case.name in few(cases)):
        for expect in case.expects:
            if expect.fixed is not None and not expect.probe:
                said = options_of(case, expect.initial[0], expect.releases[-1])
                said = {**said, **dict(expect.options)}
                images = dialect_of(case.consumer).images(case)
                yield Bench.on(case, images, said, expect.fixed.policy, expect.fixed.accept)


def rows_in(lines: list[str]) -> tuple[dict[str, dict], dict[str, dict]]:
    """Both states of the rows, as a reader of the diff sees them."""
    sides: tuple[dict[str, dict], dict[str, dict]] = ({}, {})
    names: dict[str, str] = {}
    for line in lines:
        if line.startswith(("--- ", "+++ ")):
            names[line[0]] = line[4:]
            if line[4:] != "/dev/null":
                sides["-+".index(line[0])][line[4:]] = {}
        elif not line.startswith("@@"):
            name, sign, value = line[1:].split(" ", 2)
            for side, mark in zip(sides, "-+", strict=True):
                if line[0] in (" ", mark):
                    row = side[names[mark]]
                    if sign == "=":
                        row[name] = json.loads(value)
                    else:
                        row[name]["S"] += json.loads(value)["S"]
    return sides


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_both_states_of_every_row_can_be_read_from_it(consumer: str) -> None:
    seen = 0
    for bench in plans(consumer):
        decision = bench.decide()
        if not isinstance(decision, Plan):
            continue
        before, after = rows_in(list(row_diffs(decision.steps)))
        keys = {write_.key for step in decision.steps for write_ in step.writes}
        was = {i.key: dict(i.attributes) for i in bench.plan_case.images if i.key in keys}
        now = {i.key: dict(i.attributes) for i in bench.after(decision.steps) if i.key in keys}
        assert (before, after) == (was, now), bench.case.name
        seen += bool(keys)
    assert seen


def test_a_plan_has_its_lines_of_concise_as_comments_above(planned: Planned) -> None:
    shown = write(planned, "diff", Context()).splitlines()
    above = write(planned, "concise", Context()).splitlines()
    assert shown[: len(above)] == [f"# {line}" for line in above]
    assert shown[len(above)].startswith(("--- ", "@@"))


def test_a_report_is_comments_alone(planned: Planned) -> None:
    shown = write(planned.report, "diff", Context()).splitlines()
    assert shown and all(line.startswith("# ") for line in shown)


@pytest.fixture
def planned() -> Planned:
    """The plan of a case that needs two leases."""
    return Planned(report_of("a-both", "initial=LATEST&release=3.5.1"), True)
