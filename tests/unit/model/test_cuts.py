"""Cuts are equal as their fields are, whatever spelling or quiet time they carry."""

from __future__ import annotations

from itertools import product

from reshardctl.model import DONE, START, TIP, Cut, Rank, at_number, at_time

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
