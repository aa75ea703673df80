"""What to do where a plan does not do it all: ways out with their commands, the flags that accept a
cost, and what may be written while the application runs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model import Step, shard_id
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import NoSafePlan, Nothing, Plan, Residual
from reshardctl.planning.prices import flag_of_effect as flag_of
from reshardctl.render.content.findings import going
from reshardctl.render.context import Context
from reshardctl.render.words import plan_words, write_words
from reshardctl.report.changes import mending
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import context, report_of

LATE = "add allow=late to the locator to repair all the same"


def _at(locator: str):
    report = report_of("foreign-rows", "release=2.7.2")
    return replace(report, snapshot=replace(report.snapshot, locator=parse(locator)))


@pytest.mark.parametrize(
    "locator,way,argv",
    [
        ("spark:/c", LATE, "spark:/c?allow=late --stream s"),
        ("spark:/c?allow=recount&order=any", LATE,
         "spark:/c?order=any&allow=recount,late --stream s"),
        ("spark:/c", "where it does not, say sink=file-unwritten",
         "spark:/c?sink=file-unwritten --stream s"),
        ("kinesis-consumer+ddb://leases?app=a&initial=TRIM_HORIZON",
         "start it with LATEST and add initial=LATEST to the locator",
         "kinesis-consumer+ddb://leases?app=a&initial=LATEST --stream s"),
        ("spark:/c", "--policy latest pins every shard to a number",
         "spark:/c --stream s --policy latest"),
        ("quickwit+file:///r?index=i", "--policy latest: the present tip of every shard",
         "quickwit+file:///r?index=i --stream s --policy latest"),
        ("kcl://orders", "--probe tells whether anything is left",
         "kcl://orders --stream s --probe"),
        ("kcl://orders", "accept it: --accept reread=4h,skip=2h",
         "kcl://orders --stream s --accept reread=4h,skip=2h"),
        ("spark:/c", "restore offsets/ from a backup", ""),
        ("spark:/c", "log=TABLE, where kinesis.dynamodb.tableName is set", ""),
        ("kcl://orders", "start the application with KCL 3.5 or later", ""),
    ],
)
def test_the_command_of_a_way_out(locator, way, argv):
    assert " ".join(going(_at(locator), way, [locator, "--stream", "s"])) == argv


def test_a_way_out_stands_once_with_its_command():
    report = replace(_at("kcl://orders"), decision=NoSafePlan("it cannot", ("wait", f"or {LATE}")))
    for view in ("inspect", "plan"):
        shown = getattr(FORMATS["text"], view)(report, context(report, width=80))
        assert "way out: wait" in shown
        assert shown.count(LATE) == 1 and f"  # or {LATE}\n  reshardctl fix --dry-run " in shown
        assert "'kcl://orders?allow=late'" in shown


@pytest.mark.parametrize(
    ("harm", "seconds", "flag"),
    [
        (Harm.REREAD, 10_800.0, "--accept reread=3h30m"),
        (Harm.REREAD, None, "--accept reread=all"),
        (Harm.SKIPPED, 60.0, "--accept skip=30m"),
        (Harm.DISORDERED, None, "--accept disorder"),
        (Harm.STALLED, 60.0, ""),
        (Harm.CRASHES, None, ""),
    ],
)
def test_only_what_can_be_accepted_has_a_flag(harm, seconds, flag):
    assert flag_of(Effect(harm, None, True, seconds=seconds)) == flag


@pytest.mark.parametrize("name", ["text", "concise", "markdown"])
def test_no_command_is_offered_that_would_not_help(name):
    report = report_of("h-long")
    assert isinstance(report.decision, Nothing)
    (left,) = report.decision.residuals
    stalled = Residual(left.shard, Effect(Harm.STALLED, left.shard, True, why="stalls"), "")
    shown = replace(report, decision=Nothing((stalled,)))
    context = Context(("kcl://orders-app", "--stream", "orders"))
    before = FORMATS[name].plan(report, context)
    after = FORMATS[name].plan(shown, context)
    assert "--accept" in before
    assert "--accept" not in after
    assert "no flag" in after


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


def test_a_write_that_leaves_a_shard_out_of_order_mends_nothing_of_that():
    """The page of RSH201: no position changes what reads all shards at once."""
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    assert isinstance(report.decision, Plan)
    (lost,) = report.findings
    mixed = Effect(Harm.DISORDERED, lost.shards[0], True, by=(shard_id(0),), inherent=True)
    finding = Finding("RSH201", "child-before-parent", Severity.WARNING, lost.shards[:1], "", "",
                      (mixed,))  # fmt: skip
    decided = replace(report.decision, after=((mixed,),))
    report = replace(report, decision=decided, findings=(lost, finding))
    assert not mending(report, finding).writes and mending(report, lost).mended
    shown = FORMATS["text"].inspect(report, Context((report.snapshot.locator.text,)))
    assert "fix      none: no known write improves this" in shown and "remains" not in shown
    rows = FORMATS["text"].plan(report, Context((report.snapshot.locator.text,))).splitlines()
    assert [line.split()[4] for line in rows if line.startswith("+ ")] == ["RSH203", "RSH203"]
