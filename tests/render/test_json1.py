"""`--format json1`: the documents of version 1, byte for byte as 0.1 wrote them.

`tests/golden/json-1` was written by `--format json` before the words of its documents changed.
"""

from __future__ import annotations

import io
import signal
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from reshardctl.cli.app import run
from reshardctl.consumers.locator import parse
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
from reshardctl.render.many.roundup import Entry, Roundup
from tests.case import all_cases
from tests.dialects import quickwit
from tests.judging import lineage_of
from tests.render.audit.samples import ALL as AUDITED
from tests.render.graph.samples import lineage_on, wide_case
from tests.render.samples import report_of, then

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDER, SAVED = GOLDEN / "json-1", GOLDEN / "files-0.1"
FORM = "json"
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
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
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
