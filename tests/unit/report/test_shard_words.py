"""What `status` says of a shard: its stored position, and what the next start does with it.

A number is told as a number, whoever spelled it: the expectation is the position as its library's
own parser has it (`stored_cuts`), which the golden files and the reference consumers hold.
"""

from __future__ import annotations

import pytest

from reshardctl.consumers.base import Candidate
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import ReshardError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Crash,
    Cut,
    Fate,
    Rank,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    at_number,
    at_time,
    exactly,
    shard_id,
    time_of,
)
from reshardctl.model.cuts import PARTS
from reshardctl.planning.case import Judged
from reshardctl.planning.effects import Effect, Harm
from reshardctl.report.next_start import Begins, NextStart, starts_of
from reshardctl.report.status import (
    PositionKind,
    ShardState,
    StoredPosition,
    _life,
    _most_first,
    position_of,
)
from tests.support.case import all_cases
from tests.support.judging import Bench, dialect_of, options_of
from tests.support.lineages import split_in_turn

SAID = {"kinesis-consumer": {"app": "app"}}


@pytest.mark.parametrize("name", sorted(CONSUMERS))
def test_every_numeric_position_of_every_case_is_told_as_a_number(name: str) -> None:
    seen = 0
    for case in all_cases(name):
        expect = case.expects[0]
        try:
            options = options_of(case, expect.initial[0], expect.releases[0]) | SAID.get(name, {})
            one = Bench.on(case, dialect_of(name).images(case), options).plan_case
            checkpoint = one.checkpoint()
            app = one.candidates[0].app
            cuts = one.consumer.stored_cuts(one.state.lineage, checkpoint, app)
        except ReshardError:
            continue  # a case of what is refused
        positions, texts = one.consumer.positions(checkpoint), one.consumer.texts(checkpoint)
        for shard, cut in cuts.items():
            if cut.rank is not Rank.INSIDE or cut.by_time:
                continue
            found = position_of(positions[shard], texts[shard], exactly(cut), None)
            assert found.kind is PositionKind.NUMBER, (case.name, shard, positions[shard])
            assert found.number == cut.text.partition("/")[0], case.name
            assert found.stored == positions[shard]
            seen += 1
    assert seen > 5


NUMBER = "49680603963655591175188472045913549325650858348004769794"
HOUR = 1_795_222_800.0


def reads(
    cut: Cut, cause: Cause = Cause.POSITION, after: frozenset[ShardId] = frozenset()
) -> WillRead:
    return WillRead(exactly(cut), DONE, after, True, cause, "")


NEVER = WontRead(Cause.UNREADABLE, "does not read")
NO_END = WontRead(Cause.BAD_END_MARK, "does not read")
ENDED = WontRead(Cause.FINISHED, "is finished")


@pytest.mark.parametrize(("text", "span", "fate", "kind"), [
    ("TRIM_HORIZON", exactly(START), reads(START), PositionKind.START),
    ("LATEST", exactly(TIP), reads(TIP), PositionKind.TIP),
    ("LATEST", Span(START, TIP), reads(TIP), PositionKind.TIP),
    ("LATEST", exactly(TIP), None, PositionKind.TIP),
    ("AT_TIMESTAMP", exactly(START), reads(at_time(HOUR)), PositionKind.TIME),
    ("SHARD_END", exactly(DONE), ENDED, PositionKind.DONE),
    ("SHARD_END", exactly(DONE), reads(START), PositionKind.DONE),
    (NUMBER, exactly(DONE), ENDED, PositionKind.DONE),
    (NUMBER, Span(at_number(NUMBER), DONE), ENDED, PositionKind.NUMBER),
    (NUMBER, exactly(at_number(NUMBER)), NEVER, PositionKind.NUMBER),
    (NUMBER, exactly(at_number(NUMBER)), reads(DONE, Cause.TAKEN_FOR_READ), PositionKind.NUMBER),
    ("x", exactly(START), NEVER, PositionKind.UNREADABLE),
    ("SHARD_END?", exactly(START), NO_END, PositionKind.UNREADABLE),
    ("x", exactly(at_number(NUMBER)), reads(at_number(NUMBER)), PositionKind.UNREADABLE),
    ("x", None, None, PositionKind.UNREADABLE),
])  # fmt: skip
def test_what_a_text_stands_for(
    text: str, span: Span | None, fate: Fate | None, kind: PositionKind
) -> None:
    found = position_of(f"<{text}>", text, span, fate)
    assert (found.kind, found.stored) == (kind, f"<{text}>")
    assert (found.number, found.sub) == (text if kind is PositionKind.NUMBER else "", 0)
    known = {PositionKind.TIME: HOUR, PositionKind.NUMBER: time_of(NUMBER)}
    assert found.time == known.get(kind)


@pytest.mark.parametrize("span", [None, exactly(START), exactly(DONE)])
def test_where_nothing_is_stored_there_is_no_position(span: Span | None) -> None:
    assert position_of(None, "", span, reads(START)) == StoredPosition(PositionKind.NONE)


@pytest.mark.parametrize(
    ("sub", "told"), [(0, 0), (7, 7), (-PARTS, 0), (1 - PARTS, 0), (3 - PARTS, 2)]
)
def test_a_part_of_an_aggregated_record_is_told_by_its_last_user_record(sub: int, told: int):
    """AFTER a record with `isLast` false: three user records processed are 0, 1 and 2."""
    span = exactly(at_number(NUMBER, sub))
    found = position_of(f"AFTER_SEQUENCE_NUMBER {NUMBER}", NUMBER, span, None)
    assert (found.kind, found.sub) == (PositionKind.NUMBER, told)


def test_the_part_of_another_record_is_not_that_of_the_stored_one():
    """A start that reads from elsewhere says nothing of the stored number's parts."""
    other, span = at_number("7", 3), exactly(at_number(NUMBER, 5))
    assert position_of(NUMBER, NUMBER, span, reads(other)).sub == 5
    assert position_of(NUMBER, NUMBER, None, reads(other)).sub == 0


@pytest.mark.parametrize(("shard", "state"), [
    ("shardId-000000000000", ShardState.TRIMMED), ("shardId-000000000001", ShardState.CLOSED),
    ("shardId-000000000003", ShardState.OPEN), ("shardId-000000000005", ShardState.UNBORN),
    ("shard", ShardState.TRIMMED),
])  # fmt: skip
def test_a_shard_that_is_not_listed_is_gone_or_still_to_come(shard: str, state: ShardState) -> None:
    """0 is split into 1 and 2, 1 into 3 and 4; 0 has expired since."""
    whole = split_in_turn(1, [0, 1])
    left = Lineage(whole.stream, [whole[one] for one in whole][1:])
    assert _life(left, ShardId(shard))[0] is state


ONE, PARENT = shard_id(1), shard_id(0)


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
    (START, NextStart(Begins.BEGINNING, (PARENT,))), (DONE, NextStart(Begins.BEGINNING)),
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


def test_the_largest_comes_first_and_the_unknown_last():
    assert sorted([None, 0.0, 0.5, 7.0], key=_most_first) == [7.0, 0.5, 0.0, None]
