"""Cuts are equal as their fields are, whatever spelling or quiet time they carry; their words."""

from __future__ import annotations

from itertools import product

import pytest

from reshardctl.model import DONE, START, TIP, Basis, Cut, Rank, Span, at_number, at_time, meet
from reshardctl.model.cuts import PARTS

DISTINCT = (
    START, TIP, DONE, at_number("7"), at_number("8"), at_number("7", 1), at_number("7", -1),
    at_time(None), at_time(7.0), at_time(8.0),
)


def test_only_the_same_place_is_equal():
    for (i, one), (j, other) in product(enumerate(DISTINCT), repeat=2):
        assert (one == other) == (i == j)
        assert one != other or hash(one) == hash(other)


def test_a_cut_that_was_made_anew_is_equal_to_the_first_and_has_its_hash():
    for one in DISTINCT:
        again = Cut(one.rank, one.number, one.sub, "spelled", one.time, one.by_time, quiet=1.0)
        assert again == one
        assert hash(again) == hash(one)
    assert Cut(Rank.DONE) == DONE


def test_a_cut_is_equal_to_nothing_else():
    assert DONE != "DONE"
    assert DONE != Rank.DONE


IN_ORDER = (START, at_number("7"), at_number("8"), DONE)
SPANS = [Span(lo, hi) for lo, hi in product(IN_ORDER, repeat=2) if lo <= hi]


def test_a_span_that_holds_two_reaches_from_the_lowest_to_the_highest():
    for a, b in product(SPANS, repeat=2):
        found = meet(a, b)
        assert found.lo == min(a.lo, b.lo, key=IN_ORDER.index), (a, b)
        assert found.hi == max(a.hi, b.hi, key=IN_ORDER.index), (a, b)


def test_a_span_that_holds_two_places_without_an_order_is_the_whole_shard():
    a, b = at_time(None), at_number("7")
    assert meet(Span(a, a), Span(b, b)) == Span(START, DONE)


@pytest.mark.parametrize(("one", "other", "doubt"), [
    (Basis.PROBED, Basis.STORED, Basis.STORED), (Basis.STORED, Basis.INFERRED, Basis.INFERRED),
    (Basis.PROBED, Basis.INFERRED, Basis.INFERRED), (Basis.PROBED, Basis.PROBED, Basis.PROBED),
])  # fmt: skip
def test_a_span_that_holds_two_rests_on_the_weaker(one, other, doubt):
    a, b = Span(START, DONE, one, "", "a head"), Span(START, DONE, other, "a reason")
    assert meet(a, b) == meet(b, a) == Span(START, DONE, doubt, "a reason", "a head")


SECOND = 1_795_219_300
WRITTEN = at_number(str(2 << 184 | SECOND << 148 | SECOND << 36 | 2))
"""A number of shard 0 that holds this second."""


@pytest.mark.parametrize(("one", "other"), [
    (at_time(7.0), at_time(8.0)), (at_time(SECOND), WRITTEN), (WRITTEN, at_time(SECOND + 4.0)),
])  # fmt: skip
def test_a_start_by_time_is_certainly_before_or_after(one, other):
    """A record arrives at the second of its number or up to 3 seconds later."""
    assert one < other and not other < one


@pytest.mark.parametrize(("one", "other"), [
    (at_time(None), at_time(8.0)), (at_time(7.0), at_time(None)), (at_time(None), WRITTEN),
    (at_time(SECOND + 1.0), WRITTEN), (WRITTEN, at_time(SECOND + 3.0)),
])  # fmt: skip
def test_a_start_by_time_that_may_lie_on_either_side(one, other):
    assert not one < other


@pytest.mark.parametrize(("sub", "processed"), [(-2, 6), (-1, 6), (0, 7), (2, 7)])
def test_what_is_before_a_record_leaves_it_unprocessed(sub, processed):
    assert at_number("7", sub).processed == processed


@pytest.mark.parametrize(("cut", "words"), [
    (TIP, "TIP"), (at_time(None), "AT(?)"), (at_time(5.4), "AT(5)"), (at_number("7"), "7"),
    (at_number("7", 2), "7/2"), (at_number("7", -1), "before 7"),
    (at_number("7", 10 * 2**20 - PARTS), "before 7"),
])  # fmt: skip
def test_a_cut_in_words(cut, words):
    """A record has at most 10 MiB (UpdateMaxRecordSize API reference): fewer user records."""
    assert str(cut) == words
