"""A question says what each answer changes, and what the library does where nothing is set."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import EmptyCheckpoint
from reshardctl.planning.plan import Ask
from reshardctl.render.content.questions import CHOICES, choices
from reshardctl.report.report import RepairOptions, Report, make
from tests.support.case import Case, all_cases
from tests.support.dialects import dialect_of
from tests.support.judging import Bench, lineage_of
from tests.support.questions import question, situations
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import context, report_of

PLACES = {
    "kcl": "kcl://orders-app", "kinsumer": "kinsumer://orders",
    "kinesis-consumer": "kinesis-consumer+ddb://orders",
    "quickwit": "quickwit+file:///indexes?index=events", "spark": "spark:/checkpoint",
}
DEFAULTS = {
    ("kcl", "initial"): {"LATEST"},
    ("kinsumer", "initial"): {"TRIM_HORIZON"},
    ("kinesis-consumer", "initial"): {"LATEST", "TRIM_HORIZON", ""},
    ("spark", "startingPosition"): {"LATEST", "TRIM_HORIZON"},
    ("spark", "failOnDataLoss"): {"true", "false"},
}
"""As the libraries' sources have it; "": candidates of several libraries, which differ in it."""


def made(case: Case, options: dict[str, str]) -> Report:
    place = PLACES[case.consumer]
    added = "&".join(f"{name}={quote(value, safe=':')}" for name, value in options.items())
    joint = "&" if "?" in place else "?"
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    rows = dialect_of(case.consumer).images(case)
    snapshot = Snapshot(
        parse(place + (f"{joint}{added}" if added else "")), lineage, tuple(rows), {},
        float(case.now),
    )
    return make(snapshot, RepairOptions())


def questions(every: int) -> Iterator[tuple[str, Report, Ask]]:
    for number, (_, case, options, probe) in enumerate(situations()):
        if number % every or probe or question(case, options, probe) is None:
            continue
        try:
            report = made(case, options)
        except EmptyCheckpoint:
            continue  # refused before anything is asked
        if isinstance(report.decision, Ask):
            yield case.consumer, report, report.decision


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.long)])
def test_each_answer_has_its_line(every):
    asked = 0
    for consumer, report, ask in questions(every):
        asked += 1
        found = choices(report, ask)
        lines = [choice.line for choice in found]
        assert len(set(lines)) == len(lines) > 1
        assert "" not in {choice.outcome for choice in found}, lines
        assert {choice.answer for choice in found} <= set(ask.answers)
        for values in ask.answers:
            assert all(any(value in line for line in lines) for _, value in values), lines
        for option in ask.options:
            known = DEFAULTS.get((consumer, option), {""})
            assert ask.defaults.get(option, "") in known, (consumer, ask)
        for verbose in (False, True):
            shown = FORMATS["text"].plan(report, context(report, verbose=verbose))
            flat = " ".join(shown.replace("# ", "").split())
            for number, line in enumerate(lines, 1):
                seen = f"{number}. {' '.join(line.split())}" in flat
                assert seen == (verbose or number <= CHOICES), (line, flat)
        assert all(line in FORMATS["concise"].plan(report, context(report)) for line in lines)
    assert asked >= 70 // every


def test_two_unknown_options_are_one_question():
    """Asked for one after the other until November 2026."""
    case = next(case for case in all_cases("kinesis-consumer") if case.name == "c")
    report = made(case, {"app": "app"})
    assert isinstance(report.decision, Ask)
    assert report.decision.options == ("initial", "release")
    start, never = "start 1 at 4968…0658; start 2 at 4968…1090", "no plan: master takes a row"
    lines = [choice.line for choice in choices(report, report.decision)]
    assert [f"{line.partition(never)[0]}{never}" if never in line else line for line in lines] == [
        "initial=LATEST, release=0.5.0; or initial=LATEST, release=telegraf-1.39; or "
        f"initial=AT_TIMESTAMP, release=0.5.0: {start}",
        "initial=TRIM_HORIZON: nothing to write",
        f"initial=LATEST or AT_TIMESTAMP, release=master-31e0042: {never}",
    ]
    shown = FORMATS["text"].plan(report, context(report))
    assert "?app=app&initial=LATEST&release=0.5.0'" in shown
    assert "?app=app&initial=TRIM_HORIZON'" in shown


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.long)])
def test_no_answer_leads_to_another_question(every):
    asked = 0
    for number, (_, case, options, probe) in enumerate(situations()):
        if number % every or (ask := question(case, options, probe)) is None:
            continue
        asked += 1
        rows = dialect_of(case.consumer).images(case)
        for answer in ask.answers:
            decision = Bench.on(case, rows, options | dict(answer), probe=probe).decide()
            assert not isinstance(decision, Ask), (case.name, options, answer)
    assert asked >= 70 // every


def test_a_question_as_it_is_shown():
    report = report_of("full-trimmed-parent-timestamp", "initial=LATEST")
    assert isinstance(report.decision, Ask)
    found = choices(report, report.decision)
    assert [(choice.line, choice.answer) for choice in found] == [
        ("release=1.15.3, 2.7.2 or 3.5.1: set 0 to SHARD_END", (("release", "3.5.1"),)),
        ("release=1.13.3 or 2.2.11: nothing to write", (("release", "2.2.11"),)),
    ]
