"""What a start does with a shard, in one word: by its fate, its effects and a crash."""

from __future__ import annotations

import pytest

from reshardctl.consumers.base import Candidate
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Crash,
    Cut,
    Fate,
    ShardId,
    Simulation,
    WillRead,
    WontRead,
    at_number,
    at_time,
    exactly,
    shard_id,
)
from reshardctl.planning.case import Judged
from reshardctl.planning.effects import Effect, Harm
from reshardctl.report.next_start import Begins, NextStart, starts_of

ONE, PARENT = shard_id(1), shard_id(0)


def reads(
    cut: Cut, cause: Cause = Cause.POSITION, after: frozenset[ShardId] = frozenset()
) -> WillRead:
    return WillRead(exactly(cut), DONE, after, True, cause, "")


def start_of(
    fate: Fate, *effects: Effect, crash: Crash | None = None, parent: Cut = START,
    processed: Cut = START,
) -> NextStart:
    run = Simulation({PARENT: reads(parent), ONE: fate}, crash=crash)
    return starts_of(Judged(Candidate(None, {}), run, effects), {ONE: exactly(processed)})[ONE]


@pytest.mark.parametrize(("fate", "begins"), [
    (reads(at_number("7")), Begins.POSITION), (reads(START), Begins.BEGINNING),
    (reads(TIP), Begins.TIP), (reads(at_time(7.0)), Begins.TIME), (reads(DONE), Begins.FINISHED),
    (reads(START, Cause.GONE), Begins.FINISHED), (reads(START, Cause.UNBORN), Begins.LEFT),
    (WontRead(Cause.NO_POSITION, ""), Begins.LEFT),
])  # fmt: skip
def test_a_fate_in_a_word(fate: Fate, begins: Begins) -> None:
    assert start_of(fate) == NextStart(begins)


def test_a_shard_that_is_not_read_and_processed_to_its_end_is_finished() -> None:
    fate = WontRead(Cause.NO_POSITION, "")
    assert start_of(fate, processed=DONE) == NextStart(Begins.FINISHED)


@pytest.mark.parametrize(("parent", "start"), [
    (START, NextStart(Begins.WAITS, (PARENT,))), (DONE, NextStart(Begins.BEGINNING)),
])  # fmt: skip
def test_a_shard_waits_for_those_that_are_not_over(parent: Cut, start: NextStart) -> None:
    assert start_of(reads(START, after=frozenset({PARENT})), parent=parent) == start


@pytest.mark.parametrize(("certain", "begins"), [(True, Begins.NEVER), (False, Begins.PERHAPS)])
def test_in_a_crash_no_shard_is_read(certain: bool, begins: Begins) -> None:
    assert start_of(reads(START), crash=Crash("", "", certain)) == NextStart(begins)


@pytest.mark.parametrize(("harm", "at", "past", "certain", "begins"), [
    (Harm.STALLED, START, False, True, Begins.NEVER),
    (Harm.STALLED, START, False, False, Begins.PERHAPS),
    (Harm.SKIPPED, DONE, False, True, Begins.NEVER),
    (Harm.SKIPPED, DONE, True, True, Begins.FINISHED),  # by an earlier start
    (Harm.SKIPPED, TIP, False, True, Begins.TIP),  # the rest of it is read
    (Harm.REREAD, DONE, False, True, Begins.FINISHED),
])  # fmt: skip
def test_a_shard_is_never_read_where_all_that_is_left_is_lost(harm, at, past, certain, begins):
    effect = Effect(harm, ONE, certain, past=past)
    assert start_of(reads(at), effect) == NextStart(begins)
