"""One object a line, and together no less than the JSON document holds."""

from __future__ import annotations

import json

from reshardctl.errors import HalfDone
from reshardctl.planning.plan import Plan
from reshardctl.render.context import Context
from reshardctl.report.results import Fixed, Saved, Undoing
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import by_name, context, report_of, then

LINES = FORMATS["jsonl"]
OWN = {"schema", "type"}


def read(shown: str) -> list[dict]:
    assert shown.endswith("\n") and shown.isascii()
    lines = [json.loads(line) for line in shown.split("\n")[:-1]]
    assert all(line["schema"] == "reshardctl/lines/2" for line in lines)
    return lines


def of(lines: list[dict], kind: str, *also: str) -> list[dict]:
    """The lines of a type, without what the lines add."""
    drop = OWN | set(also)
    return [{k: v for k, v in x.items() if k not in drop} for x in lines if x["type"] == kind]


@by_name
def test_the_lines_are_the_parts_of_the_document(name):
    report = report_of(name, "release=3.5.1")
    whole = json.loads(FORMATS["json"].inspect(report, context(report)))
    lines = read(LINES.inspect(report, context(report)))
    kinds = [line["type"] for line in lines]
    assert (kinds[0], kinds[-1]) == ("header", "summary")
    assert kinds.count("header") == kinds.count("summary") == 1
    assert of(lines, "finding", "rows") == whole["findings"]
    steps = whole["decision"].get("steps", [])
    writes = [write for step in steps for write in step["writes"]]
    assert of(lines, "write", "step", "title", "barrier") == writes
    header, summary = lines[0], lines[-1]
    for member in ("taken", "stream", "consumer", "store", "policy", "accept", "incarnation"):
        assert header[member] == whole[member]
    for member in ("counts", "positions", "notes", "exit"):
        assert summary[member] == whole[member]
    assert summary["decision"] == {k: v for k, v in whole["decision"].items() if k != "steps"}


def test_a_fix_tells_before_and_after():
    report = report_of("b", "initial=LATEST&release=2.7.2")
    assert isinstance(report.decision, Plan)
    outcome = Fixed(report, then(report), report.decision.steps, "1.journal", 1)
    lines = read(LINES.fixed(outcome, context(report)))
    assert (lines[0]["view"], lines[0]["journal"], lines[0]["written_steps"]) == (
        "fixed", "1.journal", 1
    )
    assert len(of(lines, "write")) == sum(len(s.writes) for s in outcome.steps) == 3
    assert lines[-1]["before"]["error"] > lines[-1]["counts"]["error"] == 0


def test_findings_say_which_rows_they_are_about():
    """Handed in the wrong way round, so that there are some after it."""
    report = report_of("b", "initial=LATEST&release=2.7.2")
    swapped = Fixed(then(report), report, report.decision.steps, "1.journal", 1)
    undoing = Undoing(then(report), report, report.decision.steps, "1.journal")
    for shown in (LINES.fixed(swapped, context(report)), LINES.undo(undoing, context(report))):
        found = [line for line in read(shown) if line["type"] == "finding"]
        assert [line["rows"] for line in found] == ["after"] * len(report.findings)
        assert [line["code"] for line in found] == [f.code for f in report.findings]


def test_an_undo_and_one_that_empties_the_store():
    report = report_of("b", "initial=LATEST&release=2.7.2")
    steps = report.decision.steps
    dry = read(LINES.undo(Undoing(then(report), report, steps, "1.journal"), context(report)))
    assert (dry[0]["view"], dry[0]["written_steps"]) == ("undo", None)
    emptied = Undoing(then(report), None, steps, "1.journal", 1)
    last = read(LINES.undo(emptied, context(report)))[-1]
    assert (last["counts"], last["decision"], last["positions"]) == (None, None, {})


def test_a_plan_names_its_file():
    report = report_of("b")
    header = read(LINES.plan(report, context(report), saved=Saved("o.plan", "0f" * 32)))[0]
    assert (header["view"], header["dry_run"]) == ("plan", True)
    assert header["saved"] == {"path": "o.plan", "sha256": "0f" * 32}


def test_a_failure_is_one_line():
    (line,) = read(LINES.error(HalfDone("stopped\nhere", "resume", "1.journal"), Context()))
    assert line == {
        "schema": "reshardctl/lines/2", "type": "error",
        "exit": {"code": 5, "name": "half-done"}, "what": "stopped\nhere", "next": "resume",
        "journal": "1.journal",
    }
