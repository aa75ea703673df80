"""The intervals of one shard are joined: no overlap, no record that is not skipped."""

from __future__ import annotations

import pytest

from reshardctl.model import Interval, Simulation, Span, at_number, at_time, shard_id, time_of
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.skipped import Skipped, _joined, _parts
from tests.support.lineages import number_inside, split_in_turn

SHARD = shard_id(1)


def part(since: int, until: int, certain: bool = True) -> Skipped:
    return Skipped(Interval(SHARD, at_number(str(since)), at_number(str(until))), certain)


@pytest.mark.parametrize(("by_candidate", "joined"), [
    ([[part(1, 3), part(3, 5)]], [part(1, 5)]),  # what touches is one
    ([[part(1, 3), part(5, 7)]], [part(1, 3), part(5, 7)]),  # what is read between them stays out
    ([[part(1, 5)], [part(3, 7)]], [part(1, 3, False), part(3, 5), part(5, 7, False)]),
    ([[part(1, 5)], []], [part(1, 5, False)]),  # one of two candidates reads it
    ([[part(1, 5)], [part(1, 5, False)]], [part(1, 5, False)]),
])  # fmt: skip
def test_what_candidates_skip(by_candidate, joined) -> None:
    """Any that a candidate skips; certain is what all of them surely do."""
    assert _joined(by_candidate) == joined


def test_what_may_lie_between_a_position_and_a_start_a_second_later_is_kept() -> None:
    """Neither is certainly before the other: a record arrives up to three seconds after the time in
    its number."""
    number = number_inside(split_in_turn(2, []), SHARD)
    written = time_of(int(number))
    assert written is not None
    between = Skipped(Interval(SHARD, at_number(number), at_time(written + 1)), False)
    assert _joined([[between]]) == [between]


@pytest.mark.parametrize(("processed", "parts"), [
    ((1, 1), [part(1, 5)]),
    ((0, 3), [part(1, 3, False), part(3, 5)]),  # up to 3 it may be processed
    ((0, 7), [part(1, 5, False)]),
])  # fmt: skip
def test_only_what_is_surely_unread_is_certain(processed, parts) -> None:
    lo, hi = (at_number(str(number)) for number in processed)
    effect = Effect(Harm.SKIPPED, SHARD, False, at_number("1"), at_number("5"))
    assert list(_parts(effect, Span(lo, hi), Simulation({}))) == parts
