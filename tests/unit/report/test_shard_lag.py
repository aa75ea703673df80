"""The lag that reads of one shard show, by what they met.

`a-both` stands at 1500 s: shard 1 is processed up to its second record, written at 460 s; records
follow at 860 s and 1260 s. The retention is 24 hours.
"""

from __future__ import annotations

import dataclasses

import pytest
from msgspec.structs import replace

from reshardctl.model import (
    DONE,
    START,
    TIP,
    Count,
    Cut,
    Interval,
    Probe,
    Span,
    exactly,
    shard_id,
)
from reshardctl.planning.plan import processed_frontier
from reshardctl.report.lag import (
    NO_UNREAD,
    Behind,
    Lag,
    LagMeter,
    Look,
    first_unread,
    lags_of,
    reads_of,
    slower_places,
    unread_intervals,
    unread_places,
    with_pace,
    worst_of,
)
from reshardctl.report.report import Report, case_of
from reshardctl.report.results import behind
from tests.unit.render.samples import CASES, report_of

ONE = shard_id(1)
BEGIN = CASES["a-both"].stream["created"]
DAY = 86400
REPORT = report_of("a-both", "initial=LATEST&release=3.5.1")
AT: Cut = processed_frontier(case_of(REPORT.snapshot, REPORT.options))[ONE].lo
COUNT = Count(2, first_arrival=BEGIN + 860.0, last_arrival=BEGIN + 1260.0, size_bytes=40)
PROBE = Probe(AT, False, BEGIN + 860.0, "1", 2, False, BEGIN + 1260.0, 40)


def with_reads(**evidence) -> Report:
    return replace(REPORT, snapshot=replace(REPORT.snapshot, **evidence))


def lag(**evidence) -> Lag:
    report = with_reads(**evidence)
    case = case_of(report.snapshot, report.options)
    return LagMeter(report, case).lag(ONE, processed_frontier(case)[ONE])


def test_without_a_read_the_position_is_the_bound():
    assert lag() == Lag(
        seconds=1500 - 460, least_seconds=1500 - 460, unread_seconds=1500 - 460,
        position_age=1500 - 460, margin=None,
    )


@pytest.mark.parametrize(("now", "shard", "seconds"), [
    (455, 1, 0), (3 * DAY, 1, 3 * DAY - 460), (3 * DAY, 2, DAY), (3 * DAY, 0, 0),
])  # fmt: skip
def test_the_bounds_of_what_is_unread(now: float, shard: int, seconds: float) -> None:
    """A clock behind the stream's shows no lag, and nothing from before the trim horizon can be
    read: of shard 2 nothing was read, and 0 is finished."""
    report = with_reads(now=BEGIN + now)
    case = case_of(report.snapshot, report.options)
    one = shard_id(shard)
    found = LagMeter(report, case).lag(one, processed_frontier(case)[one])
    assert (found.seconds, found.least_seconds, found.unread_seconds) == (seconds,) * 3


@pytest.mark.parametrize("evidence", [
    {"counts": {Interval(ONE, AT, TIP): COUNT}}, {"probes": {ONE: PROBE}},
], ids=["count", "probe"])
def test_a_record_that_was_read_is_measured(evidence):
    assert lag(**evidence) == Lag(
        seconds=1500 - 860, least_seconds=1500 - 860, unread_seconds=1500 - 460, records=2,
        size_bytes=40, oldest=BEGIN + 860.0, measured=True, position_age=1500 - 460,
        margin=860 + DAY - 1500,
    )


@pytest.mark.parametrize("evidence", [
    {"counts": {Interval(ONE, AT, TIP): Count(0)}}, {"probes": {ONE: Probe(AT, True)}},
    {"first_records": {ONE: Probe(AT, True)}},
], ids=["count", "probe", "first record"])
def test_a_read_to_the_end_without_a_record_measures_none(evidence):
    measured = lag(**evidence)
    assert measured == Lag(0, 0, 0, 0, 0, measured=True, position_age=1500 - 460, margin=None)
    assert measured.measured_seconds == 0
    assert first_unread(reads_of(with_reads(**evidence).snapshot), ONE, AT) == NO_UNREAD


@pytest.mark.parametrize("evidence", [
    {"probes": {ONE: Probe(START, False, BEGIN + 60.0, "1", 4)}},
    {"probes": {ONE: Probe(AT, False)}},
    {"counts": {Interval(ONE, AT, replace(AT, number=AT.number + 1)): Count(0)}},
], ids=["from elsewhere", "silent", "a part without a record"])
def test_reads_that_tell_nothing(evidence):
    assert lag(**evidence) == lag()


def test_a_count_that_was_cut_off_before_a_record():
    """The limit was reached: records may follow, and none was seen."""
    cut_off = lag(counts={Interval(ONE, AT, TIP): Count(0, at_least=True)})
    assert not cut_off.measured and (cut_off.records, cut_off.at_least) == (0, True)
    assert (cut_off.seconds, cut_off.least_seconds) == (1500 - 460, 0)


def test_the_read_that_tells_most_counts():
    """Of reads from one cut: a part, then the first record alone, a probe, a count of all."""
    part = {Interval(ONE, AT, replace(AT, number=AT.number + 1)): COUNT}
    first = {ONE: Probe(AT, False, BEGIN + 861.0, "1", 1, True)}
    probes = {ONE: dataclasses.replace(PROBE, count=100, more=True)}
    whole = {Interval(ONE, AT, TIP): dataclasses.replace(COUNT, records=207)}
    reads = [
        lag(counts=part), lag(counts=part, first_records=first),
        lag(counts=part, first_records=first, probes=probes),
        lag(counts=part | whole, first_records=first, probes=probes),
    ]
    assert [(read.records, read.at_least) for read in reads] == [
        (2, True), (1, True), (100, True), (207, False),
    ]
    assert reads[1].oldest == BEGIN + 861


def test_a_record_that_arrived_after_now_is_not_behind():
    """By a clock that is behind the stream's."""
    late = dataclasses.replace(COUNT, first_arrival=BEGIN + 1500.5)
    found = lag(counts={Interval(ONE, AT, TIP): late})
    assert (found.seconds, found.least_seconds) == (0, 0)


@pytest.mark.parametrize(("shard", "span", "expected"), [
    (ONE, Span(AT, DONE), (1500 - 460, 0)),  # perhaps all of it is processed
    (ONE, None, (None, None)), (shard_id(99), exactly(START), (None, None)),
])  # fmt: skip
def test_the_lag_of_what_is_known_in_part(shard, span, expected):
    """A shard that is not listed, or of which nothing is known, has none."""
    found = LagMeter(REPORT, case_of(REPORT.snapshot, REPORT.options)).lag(shard, span)
    assert (found.seconds, found.least_seconds) == expected


def test_the_worst_is_zero_only_if_every_shard_was_measured():
    none, unknown = Lag(0.0, measured=True), Lag(5.0, position_age=5.0)
    assert worst_of([none, none]).measured_seconds == 0 == worst_of([]).measured_seconds
    assert worst_of([none, unknown]).measured_seconds is None
    some = Lag(7.0, measured=True, margin=3.0, expired=1)
    worst = worst_of([none, unknown, some, Lag(margin=4.0, expired=1)])
    assert (worst.measured_seconds, worst.position_age, worst.margin, worst.expired) == (7, 5, 3, 2)


def test_lags_of_the_unfinished_shards_only():
    """Shard 0 is at SHARD_END; its children have no lease and are unread from their start."""
    assert [shard for shard, _ in lags_of(REPORT)] == [shard_id(n) for n in (1, 2, 3)]


def test_the_unread_records_of_shards_with_a_finding_come_first():
    """`a-both` under LATEST: 2 and 3 have no position, 1 is processed in part."""
    found = list(unread_intervals(REPORT))
    assert [interval.shard for interval in found] == [shard_id(2), shard_id(3), ONE]
    assert found[-1] == Interval(ONE, AT, TIP)


def test_what_could_not_be_judged_has_no_lag():
    unjudged = replace(REPORT, judged=())
    assert lags_of(unjudged) == unread_places(unjudged) == []
    assert behind(unjudged) is None


def test_from_a_time_that_no_row_tells_no_read_begins():
    """KCL's AT_TIMESTAMP mark has its time in the application's configuration alone."""
    items = [
        {**item, "checkpoint": {"S": "AT_TIMESTAMP"}} if item["leaseKey"]["S"] == ONE else item
        for item in CASES["a-both"].items()
    ]
    report = report_of("a-both", "initial=AT_TIMESTAMP&release=3.5.1", items=items)
    assert ONE in dict(processed_frontier(case_of(report.snapshot, report.options)))
    assert ONE in {interval.shard for interval in unread_intervals(REPORT)}
    assert ONE not in {interval.shard for interval in unread_intervals(report)}


@pytest.mark.parametrize(("short", "slower"), [(0, False), (5, False), (6, True)])
def test_a_shard_is_slower_if_it_moved_by_less_than_the_time_between_two_looks(short, slower):
    """Numbers carry whole seconds, and their records arrive up to three seconds later."""
    first = Look(REPORT.snapshot.now - 100, {ONE: BEGIN + 460.0 - (100 - short)})
    assert [shard for shard, _ in slower_places(REPORT, first)] == [ONE] * slower


@pytest.mark.parametrize(("count", "words"), [
    (1, "shard 0 falls behind: in 1m40s the consumer read 7s of 0; "),
    (5, "shards 0, 1, 2, 3, 4 fall behind: "), (6, "shards 0, 1, 2, 3, 4 and 1 more fall behind: "),
])  # fmt: skip
def test_five_shards_that_fall_behind_are_named(monkeypatch, count: int, words: str) -> None:
    slow = [Behind(shard_id(number), 7.0, BEGIN + DAY) for number in range(count)]
    monkeypatch.setattr("reshardctl.report.lag.falling_behind", lambda *_: slow)
    pace = with_pace(REPORT, Look(REPORT.snapshot.now - 100, {})).pace
    assert pace.startswith(words) and pace.endswith("expire at 2026-11-22T00:00:00Z")
