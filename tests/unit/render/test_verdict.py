"""The last line of a report: that all is well is said only where it is so."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.model import Rank, WillRead
from reshardctl.planning.effects import Deadline
from reshardctl.planning.policy import POSITIONS
from reshardctl.render.content.verdict import remarks_if_healthy, verdict
from reshardctl.report.report import RepairOptions, make
from reshardctl.report.scope import ScopeOptions
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import by_name, context, report_of

HOUR = 3600.0
WELL = "OK: every open shard will be read to its end; nothing is skipped."


def test_all_is_well():
    assert verdict(report_of("healthy-split-cleaned", "initial=LATEST&release=2.7.2")) == WELL


def test_a_lease_at_latest_begins_at_the_tip():
    """KCL asks for an iterator of type LATEST: what is in the shard until then is not read."""
    report = report_of("healthy-latest-roots", "initial=LATEST&release=2.7.2")
    assert verdict(report) == (
        "OK: every open shard will be read to its end; 0, 1 only from LATEST or a time on."
    )


def test_a_part_is_not_the_whole():
    report = report_of("a-both", "initial=LATEST&release=2.7.2")
    scope = RepairOptions(scope=ScopeOptions(shards=("1",)))
    left = "no errors and no warnings; 1 other finding left out."
    assert verdict(make(report.snapshot, scope)) == f"OK for shard 1: {left}"


def test_what_is_wrong_and_from_when_on():
    assert verdict(report_of("a-both", "initial=LATEST&release=2.7.2")) == (
        "1 error.  1 fixable.  Loss from 2026-11-22T00:10:01Z at the earliest; a longer "
        "retention period delays it."
    )


def test_how_much_is_fixable_is_not_told_of_given_positions():
    """After `fix --set` no plan is made for other findings, so that none would look fixable."""
    report = report_of("a-both", "initial=LATEST&release=2.7.2")
    given = replace(report, options=replace(report.options, policy=POSITIONS))
    assert "1 error." in verdict(given) and "fixable" not in verdict(given)


@pytest.mark.parametrize(("ends", "last"), [
    ((HOUR, 3 * HOUR), ", all of it by 1970-01-01T03:00:00Z"), ((HOUR, None), ""),
])  # fmt: skip
def test_the_last_loss_is_that_of_all_findings(ends, last):
    """An open shard's records expire as long as it is written to: such a loss has no end."""
    report = report_of("a-both", "initial=LATEST&release=2.7.2")
    (one,) = report.findings
    found = [replace(one, deadline=Deadline(60.0 * (n + 1), end)) for n, end in enumerate(ends)]
    told = verdict(replace(report, findings=tuple(found)))
    assert told.endswith(f"Loss from 1970-01-01T00:01:00Z at the earliest{last}.")


def test_until_when_a_start_that_crashes_has_to_be_repaired():
    """A run of KCL 1.15.3: the worker dies at a lease that it cannot read, and reads no shard."""
    told = verdict(report_of("row-no-checkpoint", "initial=LATEST&release=1.15.3"))
    assert "While it does not start, unread records expire from 2026-11-2" in told


@by_name
def test_nothing_is_skipped_where_that_is_said(name):
    """No start under any options passes over a record: it goes on from a number or a beginning."""
    report = report_of(name, "release=2.7.2")
    if verdict(report) != WELL:
        return
    lineage = report.snapshot.lineage
    for one in report.judged:
        assert not one.effects
        for shard in filter(lineage.is_open, lineage):
            fate = one.simulation.fates[shard]
            assert isinstance(fate, WillRead)
            assert fate.at.lo.rank in (Rank.START, Rank.INSIDE) and not fate.at.lo.by_time


@pytest.mark.parametrize(("case", "initial", "said"), [
    ("healthy-merge-waiting", "LATEST",
     ["2 waits until 1 (closed 15m ago) is read to the end."]),
    ("healthy-split-cleaned", "LATEST", []),
    ("healthy-second-generation", "TRIM_HORIZON", []),
    ("healthy-second-generation", "LATEST",
     ["5 is read from the beginning, though the application starts at LATEST. "
      "To start from now instead: fix --policy latest."]),
    ("a-both", "LATEST", []),
])
def test_what_is_so_and_not_wrong(case, initial, said):
    """Their rows are at work or wait as the library means them to; only where nothing is wrong."""
    report = report_of(case, f"initial={initial}&release=3.5.1")
    assert list(remarks_if_healthy(report)) == said
    shown = " ".join(FORMATS["text"].inspect(report, context(report)).split())
    assert all(line in shown for line in said)


def test_many_groups_that_wait_are_three_lines_and_a_count():
    report = report_of("update-count-behind", "initial=LATEST&release=3.5.1")
    *shown, last = remarks_if_healthy(report)
    assert len(shown) == 3 and last == (
        "And 2 more groups of shards wait; the command status shows them."
    )
