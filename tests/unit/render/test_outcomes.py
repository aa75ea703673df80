"""What is shown after a fix, of an undo, and of a failure."""

from __future__ import annotations

import pytest

from reshardctl.errors import ConsumerRunning, HalfDone, StalePlan, UsageError
from reshardctl.model import Delete, Step, Write, shard_id
from reshardctl.render.context import Context
from reshardctl.report.results import Fixed, Saved, Undoing
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import context, report_of, then

TEXT = FORMATS["text"]
OPTIONS = "initial=LATEST&release=2.7.2"


def test_a_fix_names_its_journal_and_what_is_left():
    report = report_of("a-both", OPTIONS)
    outcome = Fixed(report, then(report), report.decision.steps, "/var/j/1.journal", 1)
    assert TEXT.fixed(outcome, context(report)) == (
        "kcl://orders-app?initial=LATEST&release=2.7.2\n"
        "\n"
        "  journal  /var/j/1.journal\n"
        "  wrote    start 2, 3 at TRIM_HORIZON\n"
        "\n"
        "  reshardctl undo /var/j/1.journal   # undoes this fix\n"
        "\n"
        "Done. 2 rows written and read back.  OK now: every open shard will be read to\n"
        "its end; nothing is skipped.\n"
    )


def test_a_resumed_fix_says_what_was_in_place():
    report = report_of("a-both", OPTIONS)
    outcome = Fixed(report, then(report), report.decision.steps, "/j", 0, 1)
    assert "1 step was in place already" in TEXT.fixed(outcome, context(report))


def test_an_undo_says_what_comes_back():
    report = report_of("a-both", OPTIONS)
    mended = then(report)
    rows = {image.key: image for image in mended.snapshot.images}
    writes = tuple(
        Write(key, Delete(), rows[key], "the fix", ("checkpoint",))
        for key in (shard_id(3), shard_id(2))
    )
    undoing = Undoing(mended, report, (Step("undo: leases of 2, 3", writes),), "/j")
    shown = TEXT.undo(undoing, context(report, verbose=True))
    assert "delete shardId-000000000003 only if checkpoint are as read" in shown
    shown = TEXT.undo(undoing, context(report))
    assert "  writes   undo: leases of 2, 3, in one transaction\n" in shown
    assert "-   2       TRIM_HORIZON   –\n" in shown
    assert "  after    1 error.  1 fixable.\n" in shown
    assert "✗ error  RSH203  child-not-started  2, 3" in shown
    assert "Undo: 2 rows to delete. Nothing was written.\n  reshardctl undo /j\n" in shown
    done = TEXT.undo(Undoing(mended, report, undoing.steps, "/j", 1), context(report))
    assert "Undone. 2 rows deleted, and read again" in done
    assert "Nothing was written" not in done


def test_an_undo_that_empties_the_store_says_so():
    report = report_of("a-both", OPTIONS)
    undoing = Undoing(then(report), None, report.decision.steps, "/j")
    assert "the store holds no position" in TEXT.undo(undoing, context(report))


def test_an_undo_of_nothing():
    report = report_of("a-both", OPTIONS)
    assert "No write of this fix is in place." in TEXT.undo(
        Undoing(report, report, (), "/j"), context(report)
    )


def test_a_saved_plan_is_named_with_its_command():
    """`fix --plan` takes no consumer and no stream, but says how AWS is reached."""
    report = report_of("a-both", OPTIONS)
    again = (report.snapshot.locator.text, "--stream", "orders", "--region", "eu-west-1")
    shown = TEXT.plan(report, Context(again), saved=Saved("orders.plan", "9f3c41d2" + "0" * 56))
    assert "Nothing was written. Saved orders.plan (sha256 9f3c41d2…).\n" in shown
    assert shown.endswith("  reshardctl fix --plan orders.plan --region eu-west-1\n")


def test_a_bootstrap_is_a_plan_too():
    report = report_of("j-latest", "initial=LATEST", bootstrap=True)
    shown = TEXT.plan(report, context(report))
    assert "2 of 2 open shards will be read" in shown
    assert "Plan: 2 to create, 0 to move, 0 to delete." in shown


@pytest.mark.parametrize(
    "error,shown",
    [
        (UsageError("'x' is no locator", "write it as kcl://t"),
         "error: 'x' is no locator\n  write it as kcl://t\n"),
        (ConsumerRunning("it runs", "stop it"),
         "refused: it runs\n  stop it\n  Nothing was written.\n"),
        (StalePlan("a row moved; nothing was written"),
         "refused: a row moved; nothing was written\n"),
        (HalfDone("1 of 2 steps are in place", "reshardctl fix --resume /j", "/j"),
         "half done: 1 of 2 steps are in place\n  reshardctl fix --resume /j\n  journal: /j\n"),
    ],
)
def test_errors(error, shown):
    assert TEXT.error(error, Context()) == shown
