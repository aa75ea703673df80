"""What one start is said to do to one shard; every position, probe and fate is written by hand."""

from __future__ import annotations

import pytest

from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Crash,
    Cut,
    Probe,
    ShardId,
    Simulation,
    Span,
    WillRead,
    at_number,
    exactly,
    shard_id,
    time_of,
)
from reshardctl.planning.effects import (
    Deadline,
    Effect,
    Harm,
    StreamState,
    _width,
    deadline,
    drained_unended,
    effects,
)
from reshardctl.planning.policy import UNASKED
from reshardctl.planning.prices import acceptable
from reshardctl.planning.unread import has_unread
from reshardctl.testing.shards import SequenceNumber
from tests.support.lineages import number_inside, split_in_turn

LINEAGE = split_in_turn(1, [0])
PARENT, CHILD, _ = LINEAGE
NOW = LINEAGE.stream.created + 3600.0
LATE = "an earlier start may have begun it late"
INSIDE = {shard: at_number(number_inside(LINEAGE, shard)) for shard in LINEAGE}


def of_a_start(
    at: Cut, head: str, probes: dict | None = None, shard: ShardId = CHILD
) -> list[Effect]:
    """A start that goes on where its position is, of a shard with a doubt about its head, or none.

    Everything wanted is read: what is left is about the past.
    """
    is_open = LINEAGE.is_open(shard)
    until = TIP if is_open else DONE
    fate = WillRead(exactly(at), until, frozenset(), not is_open, Cause.POSITION, "reads")
    state = StreamState(LINEAGE, NOW, probes or {})
    span = Span(at, at, head=head)
    return effects(state, {shard: at}, {shard: span}, Simulation({shard: fate}))


def test_a_head_that_may_have_been_passed_over_is_a_possible_loss_of_the_past():
    """The interval, its deadline and the reason: from the beginning to where this start reads."""
    at = INSIDE[CHILD]
    (one,) = of_a_start(at, LATE)
    assert (one.harm, one.shard, one.cause) == (Harm.SKIPPED, CHILD, Cause.HEAD_PASSED)
    assert (one.since, one.until, one.why) == (START, at, LATE)
    assert one.past and not one.certain
    assert one.seconds == pytest.approx(60, abs=2), "number_inside: a minute after the creation"
    assert one.deadline is not None and one.deadline.starts is not None
    opened = LINEAGE.opened_at(CHILD)
    assert opened is not None
    assert one.deadline.starts == opened + LINEAGE.stream.retention


@pytest.mark.parametrize(("shard", "head", "at", "probes", "told"), [
    (CHILD, "", INSIDE[CHILD], {}, []),
    (CHILD, LATE, START, {}, []),  # it reads what was passed over
    (PARENT, LATE, INSIDE[PARENT], {}, [Cause.HEAD_PASSED]),
    # A probe from its beginning to its end met no record.
    (PARENT, LATE, INSIDE[PARENT], {PARENT: Probe(START, True)}, []),
], ids=["no doubt", "from the beginning", "in doubt", "without records"])  # fmt: skip
def test_nothing_is_lost_where_nothing_was_passed_over(shard, head, at, probes, told):
    assert [one.cause for one in of_a_start(at, head, probes, shard)] == told


@pytest.mark.parametrize(("shard", "cut", "unread"), [
    (CHILD, START, True), (CHILD, TIP, True), (CHILD, DONE, False),
    (PARENT, START, True), (PARENT, TIP, False), (PARENT, DONE, False),
    (PARENT, INSIDE[PARENT], True),
    (PARENT, at_number(LINEAGE[PARENT].end or ""), False),
    (shard_id(9), START, False),
])  # fmt: skip
def test_records_may_follow_a_cut(shard: ShardId, cut: Cut, unread: bool) -> None:
    """An open shard gets more of them, a closed one has a last number, and one that is not listed
    is never read."""
    assert has_unread(StreamState(LINEAGE, NOW), shard, cut) is unread


@pytest.mark.parametrize(("since", "found"), [(1, [PARENT]), (5, [PARENT]), (7, [])])
def test_a_read_that_met_nothing_after_the_position_shows_a_drained_shard(since, found):
    """One that began later shows nothing of the records between."""
    at = at_number(number_inside(LINEAGE, PARENT, 5))
    fates = {
        PARENT: WillRead(exactly(at), DONE, frozenset(), True, Cause.POSITION, "reads"),
        CHILD: WillRead(exactly(START), TIP, frozenset({PARENT}), False, Cause.POSITION, "waits"),
    }
    probe = Probe(at_number(number_inside(LINEAGE, PARENT, since)), drained=True)
    state = StreamState(LINEAGE, NOW, {PARENT: probe})
    assert drained_unended(state, Simulation(fates)) == found


NUMBER = INSIDE[PARENT]
SINCE, CLOSED = LINEAGE.stream.created + 57.0, LINEAGE.stream.created + 600.0
"""Its numbers begin three seconds before the stream's creation; it closes ten minutes after it."""


@pytest.mark.parametrize(("probe", "starts", "probed"), [
    (None, SINCE, False),
    (Probe(at_number(NUMBER.text), False, first_arrival=SINCE + 300), SINCE + 300, True),
    (Probe(START, False, first_arrival=SINCE - 30), SINCE, False),  # of records that are processed
    (Probe(NUMBER, True), SINCE, False),
])  # fmt: skip
def test_unread_records_expire_from_the_first_on_that_a_read_met(probe, starts, probed):
    """The arrival counts of a read from the same position; else the position's own time."""
    keep = LINEAGE.stream.retention
    state = StreamState(LINEAGE, NOW, {PARENT: probe} if probe else {})
    assert deadline(state, PARENT, NUMBER) == Deadline(starts + keep, CLOSED + keep, probed)


@pytest.mark.parametrize(("since", "seconds"), [(None, 543), (SINCE + 200, 343), (NOW, 0)])
def test_what_is_read_again_from_a_policy_s_place_arrived_at_its_time_or_later(since, seconds):
    """What is processed to its close, and read again from its first minute on."""
    fate = WillRead(exactly(NUMBER), DONE, frozenset(), True, Cause.POSITION, "reads")
    state = StreamState(LINEAGE, NOW, since=since, places={PARENT: NUMBER})
    (one,) = effects(state, {PARENT: NUMBER}, {PARENT: exactly(DONE)}, Simulation({PARENT: fate}))
    assert (one.harm, one.since, one.until) == (Harm.REREAD, NUMBER, DONE)
    assert one.seconds == seconds


@pytest.mark.parametrize(("hours", "seconds"), [(1, 603), (24, 600), (24.1, 240), (25, 0)])
def test_what_has_expired_is_not_read_again(hours, seconds):
    """Read from its beginning, three seconds before the creation; closed after ten minutes."""
    fate = WillRead(exactly(START), DONE, frozenset(), True, Cause.POSITION, "reads")
    state = StreamState(LINEAGE, LINEAGE.stream.created + hours * 3600)
    (one,) = effects(state, {PARENT: START}, {PARENT: exactly(DONE)}, Simulation({PARENT: fate}))
    assert (one.harm, one.seconds) == (Harm.REREAD, pytest.approx(seconds))


@pytest.mark.parametrize(("hi", "certain"), [(NUMBER, True), (DONE, False)])
def test_what_follows_the_end_of_a_start_is_skipped_surely_unless_it_may_be_processed(hi, certain):
    fate = WillRead(exactly(START), NUMBER, frozenset(), True, Cause.POSITION, "reads")
    state, span = StreamState(LINEAGE, NOW), Span(START, hi)
    found = effects(state, {PARENT: START}, {PARENT: span}, Simulation({PARENT: fate}))
    (one,) = (effect for effect in found if effect.harm is Harm.SKIPPED)
    assert (one.since, one.until, one.certain) == (NUMBER, DONE, certain)


def test_a_doubt_about_a_head_counts_that_came_after_an_earlier_question():
    """Of the same stream's state, as a planner asks again and again."""
    at = INSIDE[CHILD]
    fate = WillRead(exactly(at), TIP, frozenset(), False, Cause.POSITION, "reads")
    state, run = StreamState(LINEAGE, NOW), Simulation({CHILD: fate})
    want = {CHILD: at}
    assert effects(state, want, {CHILD: Span(at, at)}, run) == []
    (one,) = effects(state, want, {CHILD: Span(at, at, head=LATE)}, run)
    assert one.cause is Cause.HEAD_PASSED
    assert effects(state, want, {CHILD: Span(at, at)}, run) == []


@pytest.mark.parametrize(("minutes", "seconds"), [(30, 30 * 60), (90, 60 * 60)])
def test_what_a_number_ahead_of_the_clock_skips_has_arrived_by_now(minutes, seconds):
    """A sequence number may be of the future, and no record is. The stream is an hour old."""
    born = int(LINEAGE.stream.created)
    first, ahead = (
        at_number(str(SequenceNumber(born, 1, born + 60 * at, 0))) for at in (0, minutes)
    )
    assert _width(StreamState(LINEAGE, NOW), PARENT, first, ahead) == seconds


def test_a_skip_inside_one_second_is_a_loss_all_the_same():
    """Numbers tell whole seconds: records between two of one second are skipped, and no limit of
    0 s takes them (docs/policies.md: a skip needs `--accept skip=…`)."""
    first = number_inside(LINEAGE, PARENT)
    last = number_inside(LINEAGE, PARENT, 2)
    assert time_of(first) == time_of(last)
    fate = WillRead(exactly(at_number(last)), DONE, frozenset(), True, Cause.POSITION, "reads")
    since = at_number(first)
    run = Simulation({PARENT: fate})
    (one,) = effects(StreamState(LINEAGE, NOW, {}), {PARENT: since}, {PARENT: exactly(since)}, run)
    assert (one.harm, one.seconds) == (Harm.SKIPPED, 1.0)
    assert not acceptable(one, UNASKED)


def test_a_crash_lets_expire_what_is_unread_in_any_shard():
    """No shard is read: the first loss is that of the record which is unread for longest."""
    state, crash = StreamState(LINEAGE, NOW, {}), Crash("", "", others=(Crash("", ""),))
    read = at_number(number_inside(LINEAGE, CHILD))
    (found, _) = effects(state, {PARENT: DONE, CHILD: read}, {}, Simulation({}, crash=crash))
    opened = LINEAGE.opened_at(shard_id(2))
    assert opened is not None and found.deadline is not None
    assert found.deadline == Deadline(opened + LINEAGE.stream.retention, None)
    assert effects(state, dict.fromkeys(LINEAGE, DONE), {}, Simulation({}, crash=crash))[0] == (
        Effect(Harm.CRASHES, None, True)
    )


@pytest.mark.parametrize(("deadlines", "starts", "complete"), [
    ([Deadline(7.0, 9.0), Deadline(5.0, 8.0), None], 5.0, 9.0),
    ([Deadline(None, 9.0), Deadline(5.0, 8.0)], 5.0, 9.0),
    ([Deadline(5.0, None), Deadline(7.0, 8.0)], 5.0, None),
])  # fmt: skip
def test_the_deadline_of_several_is_from_the_first_loss_to_the_last(deadlines, starts, complete):
    found = Deadline.of_all(deadlines)
    assert found is not None and (found.starts, found.complete) == (starts, complete)
    assert Deadline.of_all([None]) is None
