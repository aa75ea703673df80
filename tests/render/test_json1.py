"""`--format json1`: the documents of version 1, byte for byte as they were written before.

`tests/golden/json-1` was written by `--format json` before the words of its documents changed.
"""

from __future__ import annotations

import io
import json
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import reshardctl.render
from reshardctl.cli.app import run
from reshardctl.console.interrupt import SIGNALS
from reshardctl.consumers.locator import parse
from reshardctl.diagnosis import baseline
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import RepairOptions, Report, make
from reshardctl.diagnosis.rules.suppressions import Sifted, Suppression
from reshardctl.errors import CannotTell, HalfDone, StalePlan
from reshardctl.exit import Exit
from reshardctl.journal.file import FileLog
from reshardctl.journal.listed_journals import entries
from reshardctl.planning.policy import Accept
from reshardctl.render import Context, Fixed, Planned, Saved, Undoing, write
from reshardctl.render.data import Result
from reshardctl.render.graph import draw
from reshardctl.render.journals import Listing
from reshardctl.render.json1 import version_1
from reshardctl.render.roundup import Entry, Roundup
from tests.dialects import quickwit
from tests.render.audit.samples import ALL as AUDITED
from tests.render.graph.samples import lineage_on, wide_case
from tests.render.samples import report_of, then
from tests.support.case import all_cases
from tests.support.judging import lineage_of

PACKAGE = Path(reshardctl.render.__file__).parent
GOLDEN = Path(__file__).parents[1] / "golden"
FOLDER, SAVED = GOLDEN / "json-1", GOLDEN / "files-0.1"
FORM = "json1"
SCHEMAS = {
    (kind, form): Draft202012Validator(json.loads((PACKAGE / name).read_text("utf-8")))
    for kind, form, name in (
        ("report", "json", "report.schema.json"),
        ("report", "json1", "report-1.schema.json"),
        ("graph", "json", "graph/graph.schema.json"),
        ("graph", "json1", "graph/graph-1.schema.json"),
    )
}
RETIRED = re.compile(r"\b(settled|owed|owes|place|first_aid|dies|no-line)\b|_(settled|owed)_|owed_")
CONSUMERS = ("kcl", "kinsumer", "kinesis-consumer", "quickwit", "spark")
REPORTS = {
    "plan": ("a-both", "initial=LATEST&release=3.5.1"),
    "nothing": ("healthy-roots", "initial=LATEST&release=3.5.1"),
    "residuals": ("h-long", "initial=LATEST&release=2.7.2"),
    "no-plan": ("foreign-rows", "release=2.7.2"),
    "ask": ("d2", "release=2.7.2"),
    "recreated": ("recreated", ""),
    "may-crash": ("row-no-counter", ""),
    "crash-mended": ("audit-throws", ""),
    "two-crashes": ("row-no-counter", "release=2.7.2"),
}


def crashing_quickwit() -> Report:
    """Quickwit 0.8.2 does not start after a reshard (RSH231)."""
    case = next(one for one in all_cases("quickwit") if one.name == "split-latest")
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    locator = parse("quickwit+file:///srv/indexes?index=events&release=0.8.2")
    rows = tuple(quickwit.images(case))
    store = {"medium": "files", "path": "/srv/indexes"}
    return make(Snapshot(locator, lineage, rows, store, float(case.now)), RepairOptions())


def roundup() -> Roundup:
    """Consumers with findings, with a suppressed one, and one that could not be judged."""
    shown = []
    for number, name in enumerate(("a-both", "foreign-rows", "healthy-roots")):
        report = report_of(name, "release=2.7.2")
        shown.append(Entry(
            name, "orders", report.snapshot.locator, (name,), Exit.FINDINGS,
            ("reshardctl.toml", number + 1), report,
        ))  # fmt: skip
    report = report_of("foreign-rows", "release=2.7.2")
    by = Suppression("orders", "RSH302", frozenset(), None, "known", "reshardctl.toml:9")
    hidden = Sifted((), tuple((finding, by) for finding in report.findings), (by,), (by,))
    shown.append(Entry(
        "hushed", "orders", report.snapshot.locator, ("hushed",), Exit.OK, None,
        replace(report, findings=()), None, hidden,
    ))  # fmt: skip
    failed = CannotTell("the <table> & its rows", "look")
    shown.append(Entry(
        "lost", "other", report.snapshot.locator, ("lost",), failed.exit, None, None, failed,
    ))  # fmt: skip
    return Roundup(tuple(shown), Exit.UNKNOWN)


def results() -> Iterator[tuple[str, Callable[[], Result]]]:
    """Every kind of result, by the name of its file."""
    for name, (case, options) in REPORTS.items():
        yield f"report-{name}", partial(report_of, case, options)
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    crash = report_of("audit-throws")
    yield "report-rsh231", crashing_quickwit
    yield "report-accept", partial(report_of, "h-long", accept=Accept(reread=7200.0))
    yield "fix-dry-run", lambda: Planned(report, True, Saved("orders.plan", "0f" * 32))
    for name, shown in (("", report), ("-crash", crash)):
        steps = shown.decision.steps  # type: ignore[union-attr]
        after = then(shown)
        yield f"fix{name}", partial(Fixed, shown, after, steps, "1.journal", 1, 1)
        yield f"undo{name}", partial(Undoing, after, shown, steps, "1.journal", 1)
    yield "undo-dry-run", lambda: Undoing(then(report), None, (), "1.journal", kept=("it stays",))
    yield "roundup", roundup
    logs = [FileLog(Path("kcl") / name) for name in ("fix.journal", "undone.journal")]
    yield "journals", lambda: Listing("kcl", entries(logs), False)
    for name, audited in AUDITED.items():
        yield f"audit-{name}", audited
    yield "error-stale", lambda: StalePlan("it moved", "plan again")
    yield "error-half-done", lambda: HalfDone("stopped", "resume", "1.journal")


RESULTS = dict(results())
DRAWN = ("plan", "no-plan", "may-crash", "crash-mended")
GRAPHS = {"graph-none": None} | {f"graph-{name}": REPORTS[name] for name in DRAWN}
COMMANDS = {
    f"{verb}-{consumer}": (verb, f"snapshot:{consumer}/stream.snapshot")
    for verb in ("inspect", "graph")
    for consumer in CONSUMERS
} | {
    "fix-snapshot": ("fix", "--dry-run", "snapshot:kcl/stream.snapshot"),
    "error-usage": ("inspect", "snapshot:absent"),
}


def graph(form: str, name: str) -> str:
    """The picture of a case of `GRAPHS`."""
    asked = GRAPHS[name]
    if asked is None:
        case = wide_case(5)
        return draw(form, lineage_on(case), float(case.now))
    report = report_of(*asked)
    return draw(form, report.snapshot.lineage, report.snapshot.now, report)


def command(form: str, name: str) -> str:
    """What a command of `COMMANDS` prints, run in `SAVED`."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        with redirect_stdout(out):
            run([*COMMANDS[name], "--format", form])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    out.seek(0)
    return out.read()


def golden(name: str) -> str:
    return (FOLDER / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RESULTS)
def test_a_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAVED)
    assert write(RESULTS[name](), FORM, Context(exit=Exit.FINDINGS)) == golden(name)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph(name: str) -> None:
    assert graph(FORM, name) == golden(name)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAVED)
    assert command(FORM, name) == golden(name)


def test_every_golden_file_is_compared() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*RESULTS, *GRAPHS, *COMMANDS}


@pytest.mark.parametrize("form", ["json", "json1"])
def test_both_versions_fit_their_schemas(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAVED)
    for schema in (SCHEMAS["report", form], SCHEMAS["graph", form]):
        Draft202012Validator.check_schema(schema.schema)
    for made in RESULTS.values():
        SCHEMAS["report", form].validate(json.loads(write(made(), form, Context())))
    for name in GRAPHS:
        SCHEMAS["graph", form].validate(json.loads(graph(form, name)))


def test_no_schema_of_version_2_has_a_retired_word() -> None:
    for kind in ("report", "graph"):
        assert RETIRED.search(json.dumps(SCHEMAS[kind, "json"].schema)) is None
        assert RETIRED.search(json.dumps(SCHEMAS[kind, "json1"].schema))


@pytest.mark.parametrize("name", ["report-plan", "report-no-plan", "report-rsh231", "roundup"])
def test_a_baseline_of_either_version_is_the_same(name: str) -> None:
    old, new = (write(RESULTS[name](), form, Context()) for form in ("json1", "json"))
    assert old != new
    assert baseline.parsed(old, "base.json") == baseline.parsed(new, "base.json")


def test_what_a_store_holds_keeps_its_words() -> None:
    document = {
        "schema": "reshardctl/report/2", "decision": {"kind": "no-safe-plan"},
        "retention_advice": None, "store": {"harm": "crashes", "kind": "no-safe-plan"},
        "positions": {"harm": "crashes", "decision": "", "retention_advice": ""},
        "steps": [{"writes": [{"key": "harm", "set": {"kind": "no-safe-plan"}}]}],
    }  # fmt: skip
    told = version_1(document)
    assert told == {
        "schema": "reshardctl/report/1", "decision": {"kind": "no-line"}, "first_aid": None,
        "store": document["store"], "positions": document["positions"],
        "steps": document["steps"],
    }  # fmt: skip
    assert list(told)[2] == "first_aid"
