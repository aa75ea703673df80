"""`--format json`: documents of every kind follow their published schemas, in plain words; and each
command offers the formats whose view the document of its result has."""

from __future__ import annotations

import importlib
import io
import json
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer.main
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import reshardctl.render
from reshardctl.cli.app import run
from reshardctl.console.interrupt import SIGNALS
from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.rules.base import Sifted, Suppression
from reshardctl.errors import CannotTell, HalfDone, StalePlan
from reshardctl.exit import Exit
from reshardctl.journal.file import FileLog
from reshardctl.journal.listing import entries
from reshardctl.planning.policy import Accept
from reshardctl.render.content.documents import (
    DOCUMENTS,
    DiscoveryDocument,
    ExplanationDocument,
    FailureDocument,
    Result,
    StatusDocument,
)
from reshardctl.render.content.journals import Listing
from reshardctl.render.context import Context
from reshardctl.render.document import Document
from reshardctl.render.formats import Format, write
from reshardctl.render.graph.drawings import ChartDocument
from reshardctl.report import baseline
from reshardctl.report.report import RepairOptions, Report, make
from reshardctl.report.results import Entry, Fixed, Planned, Roundup, Saved, Undoing
from tests.support.case import all_cases
from tests.support.dialects import quickwit
from tests.support.judging import lineage_of
from tests.unit.render.audit.samples import ALL as AUDITED
from tests.unit.render.graph.samples import wide_case
from tests.unit.render.graph.written import draw, draw_stream
from tests.unit.render.samples import report_of, then

PACKAGE = Path(reshardctl.render.__file__).parent
GOLDEN = Path(__file__).parents[2] / "golden"
SAVED = GOLDEN / "files-0.2"
REPORT, GRAPH = (
    Draft202012Validator(json.loads((PACKAGE / name).read_text("utf-8")))
    for name in ("report.schema.json", "graph/graph.schema.json")
)
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
    yield "undo-emptied", lambda: Undoing(then(report), None, report.decision.steps, "1.journal", 1)
    yield "fix-bootstrap", lambda: Planned(
        report_of("j-latest", "initial=LATEST", bootstrap=True), True
    )
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


def graph(name: str) -> str:
    """The picture of a case of `GRAPHS`, as a document."""
    asked = GRAPHS[name]
    if asked is None:
        case = wide_case(5)
        return draw_stream("json", case)
    report = report_of(*asked)
    return draw("json", report)


def command(name: str) -> str:
    """What a command of `COMMANDS` prints, run in `SAVED`."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        with redirect_stdout(out):
            run([*COMMANDS[name], "--format", "json"])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    out.seek(0)
    return out.read()


@pytest.mark.parametrize("schema", [REPORT, GRAPH], ids=["report", "graph"])
def test_a_schema_is_one_and_has_no_retired_word(schema: Draft202012Validator) -> None:
    Draft202012Validator.check_schema(schema.schema)
    assert RETIRED.search(json.dumps(schema.schema)) is None


@pytest.mark.parametrize("name", RESULTS)
def test_a_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAVED)
    REPORT.validate(json.loads(write(RESULTS[name](), "json", Context(exit=Exit.FINDINGS))))


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph(name: str) -> None:
    GRAPH.validate(json.loads(graph(name)))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAVED)
    (GRAPH if name.startswith("graph") else REPORT).validate(json.loads(command(name)))


@pytest.mark.parametrize("name", ["report-plan", "report-no-plan", "report-rsh231"])
def test_a_report_is_a_baseline(name: str) -> None:
    """Each finding of the document is known of its stream and store."""
    text = write(RESULTS[name](), "json", Context())
    (known,) = baseline.parsed(text, "base.json").known.values()
    found = json.loads(text)["findings"]
    assert found and [one.rule for one in known] == [one["code"] for one in found]


def test_a_roundup_is_a_baseline() -> None:
    text = write(RESULTS["roundup"](), "json", Context())
    assert baseline.parsed(text, "base.json").known


OFFERED = {
    "discover": DiscoveryDocument, "explain": ExplanationDocument, "graph": ChartDocument,
    "status": StatusDocument,
}


def shown_in(kind: type[Document[Any]]) -> list[str]:
    return [str(form) for form in Format if kind.has(form.view)]


@pytest.mark.parametrize("verb", OFFERED)
def test_a_command_offers_what_its_document_has(verb: str) -> None:
    app = importlib.import_module("reshardctl.cli.app")
    group: Any = typer.main.get_command(app.application(verb))
    (option,) = (p for p in group.commands[verb].params if "--format" in p.opts)
    assert list(option.type.choices) == shown_in(OFFERED[verb])


@pytest.mark.parametrize("kind", [*DOCUMENTS.values(), FailureDocument, ChartDocument])
def test_every_result_is_shown_to_people_and_to_programs(kind: type[Document[Any]]) -> None:
    assert {"text", "json"} <= set(shown_in(kind))
