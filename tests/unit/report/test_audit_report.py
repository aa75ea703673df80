"""Findings of an audit, from facts made by hand. What is expected is what the facts say."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.auditing.coverage import NOT_ASKED
from reshardctl.auditing.facts import (
    FAILED,
    UP_TO_A_TIME,
    Compared,
    Facts,
    Fault,
    Record,
    Unusable,
)
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model import DONE, START, TIP, Span, at_number, at_time, exactly, shard_id
from reshardctl.report.audit import AuditReport, Stored, judge_sink
from reshardctl.testing.shards import SequenceNumber
from tests.unit.auditing.hand_made_facts import (
    CREATED,
    TAKEN,
    compared,
    facts,
    ids,
    inside,
    lacking,
    lineage,
    number,
    record,
    whole,
)

DAY = 86_400


def judged(
    found, stored: dict | None = None, retention: int | None = None
) -> AuditReport:
    line = None if stored is None else Stored(
        "kcl://app", {shard_id(s): one if isinstance(one, Span) else exactly(one)
                      for s, one in stored.items()},
    )
    return judge_sink(found, lineage(retention), line)


def only(report: AuditReport, code: str) -> Finding:
    (one,) = [f for f in report.findings if f.code == code]
    return one


def codes(report: AuditReport) -> list[str]:
    return [f.code for f in report.findings]


def but(*shards: Compared, **more) -> Facts:
    """The whole sink, but that reads of these shards said something else."""
    read = {**whole().compared, **{one.shard: one for one in shards}}
    return replace(whole(), compared=read, **more)


HOLE = lacking(1, 3, 300, 400)
"""Three records of 1, where the sink has later ones."""


def unread(shard: int, short: str = "") -> Compared:
    """A shard of which no record was read."""
    return Compared(shard_id(shard), 0, 0, None, None, False, False, False, short)


def test_a_whole_sink_has_no_finding():
    report = judged(whole())
    assert report.findings == ()
    assert report.counts() == {"error": 0, "warning": 0, "info": 0}
    assert report.read == 40 and report.missing == 0
    assert [one.unknowable for one in report.coverages] == [()] * 4
    assert [one.window and (one.window.since, one.window.until) for one in report.coverages] == [
        (CREATED, CREATED + 100), (CREATED, TAKEN), (CREATED + 101, TAKEN), (CREATED + 101, TAKEN),
    ], "from the second of a shard's first number to its close, or to the audit"


def test_a_hole_is_a_certain_loss_with_its_deadline():
    report = judged(but(HOLE))
    assert [one.codes for one in report.coverages] == [(), ("RSH501",), (), ()]
    one = only(report, "RSH501")
    assert one.severity is Severity.ERROR and one.shards == ids(1)
    assert one.what == (
        "3 records of the stream are not in the sink, arrived 2026-09-21T14:18:20Z to "
        "2026-09-21T14:20:00Z"
    )
    assert "later records of the same shard" in one.costs
    assert one.deadline is not None
    assert (one.deadline.starts, one.deadline.complete) == (
        CREATED + 300 + DAY, CREATED + 400 + DAY
    )


def test_records_of_one_second_have_one_time():
    one = only(judged(but(lacking(1, 2, 300, 300))), "RSH501")
    assert one.what.endswith(" are not in the sink, arrived at 2026-09-21T14:18:20Z")


def test_a_hole_of_records_without_a_time_has_no_deadline():
    """An emulator may number records as it likes; "7" has no time in it."""
    hole = replace(HOLE, first_missing=Record("7", 0), last_missing=Record("9", 0))
    one = only(judged(but(hole)), "RSH501")
    assert (one.what, one.deadline) == ("3 records of the stream are not in the sink", None)


@pytest.mark.parametrize(("shards", "words"), [
    ((1,), "of 1 shard the read failed"), ((1, 2), "of 2 shards the read failed"),
])  # fmt: skip
def test_a_read_that_failed_is_told(shards, words):
    report = judged(but(*(unread(n, short=f"{FAILED}denied") for n in shards)))
    assert report.failed == tuple(map(shard_id, shards))
    assert any(note.startswith(words) for note in report.notes)
    windowless = [one.shard for one in report.coverages if one.window is None]
    assert windowless == [*report.failed]


SIDE_BY_SIDE = (inside(0, 1, 90), inside(2, 110, 880), inside(3, 120, 870))
PART = record(1, 300)
TO_LATE = replace(inside(1, 2, 300), last=replace(PART, sub=5))
PART_LACKS = replace(
    lacking(1, 1, 300, 300), first_missing=replace(PART, sub=2), last_missing=replace(PART, sub=2)
)
INFO, WARNING, ERROR = Severity
LOST: dict[str, tuple[Facts, dict | None, Severity, str]] = {
    "before rows of its shard": (but(HOLE), None, ERROR, "later records of the same shard"),
    "between what is and what may be processed": (
        but(HOLE), {1: Span(at_number(number(1, 200)), at_number(number(1, 800)))}, ERROR,
        "later records of the same shard",
    ),
    "a tail, newer than all other shards by less than ten minutes": (
        facts(*SIDE_BY_SIDE, inside(1, 2, 800), against=(lacking(1, 2, 850, 890),)), None, WARNING,
        "lost, or still on their way",
    ),
    "a tail that other shards have left behind": (
        facts(*SIDE_BY_SIDE, inside(1, 2, 200), against=(lacking(1, 2, 250, 270),)), None, ERROR,
        "of other shards",
    ),
    "a parent's tail, of a child that has rows": (
        facts(inside(0, 1, 50), inside(1, 2, 300), inside(2, 110, 300),
              against=(lacking(0, 2, 60, 90),)), None, ERROR, "a child",
    ),
    "a hole and what is newer than the sink's last row": (
        facts(*SIDE_BY_SIDE, inside(1, 2, 850), against=(lacking(1, 5, 300, 890),)), None, ERROR,
        "may still be on its way",
    ),
    "a part of an aggregate": (
        facts(inside(0, 1, 90), TO_LATE, inside(2, 110, 300), inside(3, 120, 300),
              against=(PART_LACKS,)), None, ERROR, "later records of the same shard",
    ),
    "after the position": (but(HOLE), {1: at_number(number(1, 299))}, INFO, "still to read"),
    "from the position on": (
        but(HOLE), {1: at_number(number(1, 300))}, ERROR, "will not read them again",
    ),
    "before and after the position": (
        but(HOLE), {1: at_number(number(1, 350))}, ERROR, "still to read the others",
    ),
    "before the position": (
        but(HOLE), {1: at_number(number(1, 890))}, ERROR, "will not read them again",
    ),
    "of a shard that stands at its beginning": (
        but(lacking(3, 5, 300, 400)), {3: START}, INFO, "still to read",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
def test_what_is_missing_is_lost_or_still_to_come(name):
    found, stored, severity, words = LOST[name]
    one = only(judged(found, stored), "RSH501")
    assert one.severity is severity and words in one.costs


def test_up_to_the_position_nothing_is_still_to_read():
    one = only(judged(but(HOLE), {1: at_number(number(1, 400))}), "RSH501")
    assert "still to read" not in one.costs


@pytest.mark.parametrize("position", [exactly(START), Span(START, DONE)])
def test_what_the_next_start_never_reads_is_lost_although_it_is_owed(position):
    """A child without a lease: nobody will read it, whether a lease was there once or not."""
    stored = Stored("kcl://app", {shard_id(3): position}, {}, frozenset(ids(3)))
    one = only(judge_sink(but(lacking(3, 5, 300, 400)), lineage(), stored), "RSH501")
    assert one.severity is Severity.ERROR and "never reads the shard" in one.costs


@pytest.mark.parametrize("more", [{"since": CREATED + 900.0}, {"until": CREATED + 200.0}])
def test_a_window_without_a_record_does_not_say_that_the_stream_has_none(more):
    """Of 3 nothing was read, of 2 only a part: either may have records outside of the window."""
    found = facts(
        inside(0, 1, 90), inside(1, 2, 890),
        against=(compared(0, 10, 1, 90), compared(1, 10, 2, 890), replace(
            compared(2, 0, 110, 880, whole=False), since=None, until=None)), **more,
    )
    one = only(judged(found), "RSH505")
    assert one.severity is Severity.INFO and one.shards == ids(2, 3)
    assert "not all was read" in one.what and "--since" in one.helps


def test_a_shard_of_which_all_that_is_left_was_read_is_one_finding():
    """Its first records have expired, and whether the sink missed any cannot be known (RSH508)."""
    found = facts(
        inside(0, 1, 90), inside(1, 2, 890), inside(3, 120, 870),
        against=(replace(compared(2, 0, 110, 880, whole=False), since=None, until=None),),
    )
    one = only(judged(found), "RSH505")
    assert one.shards == ids(2) and one.what.endswith("the stream has no record any more")


def test_losses_of_different_certainty_are_findings_of_their_own():
    found = facts(
        inside(0, 1, 90), inside(1, 2, 800), inside(2, 110, 880), inside(3, 120, 870),
        against=(lacking(1, 2, 850, 890), lacking(2, 5, 200, 400)),
    )
    both = [f for f in judged(found).findings if f.code == "RSH501"]
    assert [(f.severity, f.shards) for f in both] == [
        (Severity.ERROR, ids(2)), (Severity.WARNING, ids(1)),
    ]


def test_reasons_name_their_shards():
    found = facts(
        inside(0, 1, 50), inside(1, 2, 800), inside(2, 110, 880), inside(3, 120, 870),
        against=(lacking(0, 2, 60, 90), lacking(2, 5, 200, 400)),
    )
    costs = only(judged(found), "RSH501").costs
    assert costs.startswith("0: the sink has records of a child already; 2: the sink has later")


def test_one_record_is_doubled():
    one = only(judged(facts(inside(0, 1, 90, doubled=1, extra=1))), "RSH502")
    assert one.what == "1 record is in the sink more than once: 1 row too many"


def test_doubled_and_disordered_rows():
    found = facts(
        inside(0, 1, 90, doubled=2, extra=3, disordered=0), inside(1, 2, 890, disordered=4),
        inside(2, 110, 880), inside(3, 120, 870), ordered_by="batch",
    )
    report = judged(found)
    doubled, order = only(report, "RSH502"), only(report, "RSH503")
    assert doubled.what == "2 records are in the sink more than once: 3 rows too many"
    assert (doubled.shards, order.shards) == (ids(0), ids(1))
    assert order.what == "4 rows came after a later record of the same key, by batch"


def test_no_order_is_said_and_not_passed():
    assert any("order within keys was not looked at" in note for note in judged(whole()).notes)
    ordered = facts(inside(0, 1, 90, disordered=0))
    assert not any("order within keys" in note for note in judged(ordered).notes)


@pytest.mark.parametrize(("fault", "code"), [
    (Fault.NO_NUMBER, "RSH509"), (Fault.NOT_NUMERIC, "RSH509"), (Fault.ODD_LENGTH, "RSH509"),
    (Fault.OTHER_STREAM, "RSH504"), (Fault.OTHER_INCARNATION, "RSH504"),
    (Fault.UNKNOWN_SHARD, "RSH504"), (Fault.NOT_ITS_SHARD, "RSH504"),
])
def test_every_fault_of_a_row_has_its_code(fault, code):
    found = replace(whole(), unusable=(
        Unusable(fault, 3, shard_id(1), ("4.9E55",)), Unusable(fault, 4, None),
    ))
    report = judged(found)
    assert codes(report) == [code]
    one = only(report, code)
    assert one.severity is Severity.WARNING and one.shards == ids(1)
    assert one.what.startswith("7 rows: ") and one.what.endswith("such as “4.9E55”")


@pytest.mark.parametrize(("fault", "texts", "shown"), [
    (Fault.NOT_NUMERIC, tuple("abcd"), " such as “a”, “b”, “c”"),
    # Shown shortened, 55 digits look like 56.
    (Fault.ODD_LENGTH, (number(1, 5)[:-1],), f"such as {number(1, 5)[:-1]} (55 digits)"),
])  # fmt: skip
def test_three_of_the_texts_are_shown_and_how_long_a_number_is(fault, texts, shown):
    found = replace(whole(), unusable=(Unusable(fault, 4, None, texts),))
    assert only(judged(found), "RSH509").what.endswith(shown)


def test_a_shard_without_rows_may_be_idle_or_have_records():
    rows = (inside(0, 1, 90), inside(1, 2, 890), inside(2, 110, 880))
    one = only(judged(facts(*rows)), "RSH505")
    assert one.severity is Severity.INFO and one.shards == ids(3)
    report = judged(facts(*rows, against=(lacking(3, 20, 110, 890),)))
    assert only(report, "RSH505").severity is Severity.WARNING
    assert only(report, "RSH501").severity is Severity.ERROR


def test_a_shard_that_was_seen_to_be_empty_is_no_finding():
    found = facts(
        inside(0, 1, 90), inside(1, 2, 890), inside(2, 110, 880),
        against=(compared(0, 10, 1, 90), compared(1, 10, 2, 890), compared(2, 10, 110, 880),
                 replace(compared(3, 0, 110, 110), since=None, until=None)),
    )
    assert judged(found).findings == ()


def test_an_empty_sink():
    one = only(judged(facts()), "RSH505")
    assert one.severity is Severity.WARNING and one.what == "the sink holds no row at all"


@pytest.mark.parametrize(("stored", "shards", "by"), [
    ({0: DONE, 1: at_number(number(1, 290)), 2: at_number(number(2, 880)), 3: TIP}, ids(1), "10m"),
    # Of an unknown beginning only the rows themselves tell how much: 888 seconds of them.
    ({1: START}, ids(1), "14m48s"),
    # Of several the farthest is told.
    ({1: at_number(number(1, 290)), 2: at_number(number(2, 820))}, ids(1, 2), "10m"),
], ids=["one of four", "at the beginning", "two"])  # fmt: skip
def test_a_position_behind_the_sink(stored, shards, by):
    report = judged(whole(), stored)
    one = only(report, "RSH506")
    assert codes(report) == ["RSH506"]
    assert one.severity is Severity.WARNING and one.shards == shards
    assert one.what == f"the sink is ahead of the stored position, by {by} of stream time at most"


@pytest.mark.parametrize("before", [
    str(SequenceNumber(CREATED - 3, 889, CREATED + 890, 1)), str(int(number(1, 890)) - 1),
    str(SequenceNumber(CREATED - 3, 889, CREATED + 895, 1)),
], ids=["of the same second", "of no known time", "of a later second"])
def test_how_far_a_position_is_behind_is_told_only_where_the_numbers_show_it(before: str):
    one = only(judged(whole(), {1: at_number(before)}), "RSH506")
    assert one.what == "the sink is ahead of the stored position"


def test_an_unknown_position_is_neither_behind_nor_ahead():
    assert judged(whole(), {1: Span(START, DONE)}).findings == ()


def test_a_position_ahead_of_a_sink_by_its_number_alone():
    alone = replace(whole(), compared={})
    one = only(judged(alone, {1: at_number(number(1, 900))}), "RSH507")
    assert one.severity is Severity.WARNING and one.shards == ids(1)


@pytest.mark.parametrize("cut", [DONE, TIP, at_time(CREATED + 950.0)])
def test_marks_that_are_ahead_of_every_row_say_nothing_by_themselves(cut):
    alone = replace(whole(), compared={})
    assert "RSH507" not in codes(judged(alone, {1: cut}))


@pytest.mark.parametrize("cut", [DONE, at_number(number(1, 900)), at_time(CREATED + 950.0)])
def test_an_acknowledged_record_that_was_never_stored(cut):
    one = only(judged(but(lacking(1, 1, 895, 895)), {1: cut}), "RSH507")
    assert one.severity is Severity.ERROR and one.shards == ids(1)


@pytest.mark.parametrize(("read", "ahead"), [
    ({"tip": True, "whole": True}, False), ({"ended": True, "whole": True}, False),
    ({"whole": True}, True),  # not to the position
    ({"whole": True, "until": 899}, True), ({"whole": True, "until": 900}, False),
    ({"whole": True, "until": 901}, False),
    ({"tip": True}, True),  # not from the sink's last row
    ({"tip": True, "since": 889}, False), ({"tip": True, "since": 890}, False),
    ({"tip": True, "since": 891}, True),
    ({"tip": True, "whole": True, "short": "the reads allowed ran out"}, True),
])  # fmt: skip
def test_only_a_read_from_the_last_row_to_the_position_shows_that_nothing_lies_between(read, ahead):
    """The position's number is no record that is missing: a place that another tool wrote. The
    sink has the shard's records up to 890."""
    ends = {end: record(1, read[end]) for end in ("since", "until") if end in read}
    one = replace(unread(1), read=10, **{**read, **ends})
    report = judged(but(one), {1: at_number(number(1, 900))})
    assert ("RSH507" in codes(report)) is ahead


def test_what_retention_has_taken_is_never_fine():
    """Of a stream that keeps ten minutes, seen 1000 s after its creation."""
    report = judged(but(compared(1, 5, 500, 890, whole=False)), retention=600)
    one = only(report, "RSH508")
    assert one.severity is Severity.INFO and one.shards == ids(1)
    (gap,) = report.coverages[1].unknowable
    assert (gap.since, gap.until) == (CREATED, CREATED + 400)
    window = report.coverages[1].window
    assert window is not None and (window.since, window.until) == (CREATED + 400, TAKEN)


def test_what_nobody_asked_for_is_no_finding():
    """A window in time: what lies outside of it is told, and is not judged."""
    cut = compared(1, 5, 500, 590, whole=False, tip=False, short=UP_TO_A_TIME)
    report = judged(replace(
        whole(), compared={shard_id(1): cut}, since=CREATED + 450.0, until=CREATED + 600.0
    ))
    assert report.findings == ()
    window = report.coverages[1].window
    assert window is not None and (window.since, window.until) == (CREATED + 450, CREATED + 600)
    assert [gap.why for gap in report.coverages[1].unknowable] == [NOT_ASKED, NOT_ASKED]


@pytest.mark.parametrize("asked", [None, CREATED + 900.0], ids=["of all", "up to a time"])
@pytest.mark.parametrize("why", ["the read was stopped after 10 minutes", f"{FAILED}reset"])
def test_a_read_that_was_cut_short_says_why(why, asked):
    """Also where only a part was asked for: what lies before its end was not compared either."""
    cut = compared(1, 5, 2, 500, tip=False, short=why)
    report = judged(but(cut, until=asked))
    one = only(report, "RSH508")
    assert one.what == f"not compared: {why}"
    (gap,) = report.coverages[1].unknowable
    assert (gap.since, gap.until) == (CREATED + 500, None)


def test_a_shard_that_was_not_read_is_not_known():
    report = judged(replace(whole(), compared={
        s: one for s, one in whole().compared.items() if s != shard_id(2)
    }))
    assert only(report, "RSH508").shards == ids(2)


@pytest.mark.parametrize("window", [{"since": CREATED + 500.0}, {"until": CREATED + 50.0}])
def test_a_shard_outside_the_window_was_not_asked_for(window):
    compared = {s: one for s, one in whole().compared.items() if s != shard_id(2)}
    report = judged(replace(whole(**window), compared=compared))
    assert [gap.why for gap in report.coverages[2].unknowable] == [NOT_ASKED]


def test_the_sink_alone_knows_nothing_of_losses_and_says_so():
    report = judged(replace(whole(), compared={}))
    assert report.findings == () and not report.against_stream
    assert any("the stream was not read" in note for note in report.notes)


def test_a_sink_that_changed():
    one = only(judged(replace(whole(), changed="3 new files")), "RSH510")
    assert one.severity is Severity.WARNING and one.what.endswith(": 3 new files")


def test_rows_of_shards_that_are_not_listed_are_shown():
    gone = replace(inside(0, 1, 90), shard=shard_id(9))
    report = judged(replace(whole(), shards={**whole().shards, shard_id(9): gone}))
    assert report.coverages[0].shard == shard_id(9)


def test_when_the_facts_were_taken_decides_nothing_but_windows():
    later = replace(whole(), taken=TAKEN + 50)
    assert judged(later).findings == judged(whole()).findings
    assert {w.window.until for w in judged(later).coverages if w.window} >= {TAKEN + 50}
    assert record(1, 5).arrival == CREATED + 5
