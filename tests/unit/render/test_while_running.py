"""Which writes are safe while the application runs: said of each, counted, and never of an undo."""

from __future__ import annotations

import pytest

from reshardctl.model import Step
from reshardctl.planning.plan import Plan
from reshardctl.render.words import plan_words, write_words
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import context, report_of

VIEWS = {
    "a-both": "both writes are safe while it runs; --live writes without a stop",
    "a-one": "the write is safe while it runs; --live writes without a stop",
    "g-no-children": "2 of 3 writes are safe while it runs; stop the application first",
    "b-one": "1 of 2 writes is safe while it runs; stop the application first",
    "c2": "none of 2 writes is safe while it runs; stop the application first",
}
OPTIONS = "initial=LATEST&release=3.5.1"


def steps_of(case: str) -> tuple[Step, ...]:
    decision = report_of(case, OPTIONS).decision
    assert isinstance(decision, Plan)
    return decision.steps


@pytest.mark.parametrize("case", VIEWS)
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_every_write_is_marked_and_all_are_counted(case: str, form: str) -> None:
    report = report_of(case, OPTIONS)
    shown = " ".join(FORMATS[form].plan(report, context(report, width=100, verbose=True)).split())
    assert VIEWS[case].lower() in shown.lower()
    writes = [write for step in steps_of(case) for write in step.writes]
    assert shown.count("live-safe: ") == sum(write.live for write in writes)
    assert shown.count("stop first: ") == sum(not write.live for write in writes)


def test_where_nobody_has_looked_nothing_is_said() -> None:
    """An undo's writes, and first positions of a new application."""
    assert plan_words([]) == ""
    report = report_of("a-both", "initial=LATEST&release=3.5.1", items=[], bootstrap=True)
    assert isinstance(report.decision, Plan)
    writes = [write for step in report.decision.steps for write in step.writes]
    assert writes and {write_words(write) for write in writes} == {""}
    assert "live" not in FORMATS["text"].plan(report, context(report, width=100))
