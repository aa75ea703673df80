"""What a plan costs beyond what was there before, the flag that takes it, and what reads showed."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.consumers.base import Cannot
from reshardctl.model import DONE, START, TIP, Cause, Probe, at_number, shard_id
from reshardctl.planning.decision import NoSafePlan, Plan
from reshardctl.planning.effects import PAST_EXPIRY, Effect, Harm
from reshardctl.planning.policy import Accept
from reshardctl.planning.prices import (
    by_place,
    flag,
    leaves_no_loss,
    no_safe_plan,
    not_held,
    price,
    so_already,
)
from tests.support.case import CASES, load
from tests.support.judging import Bench
from tests.whole.test_cases_dialects import SITUATIONS

CUTS = st.sampled_from([START, at_number("5"), at_number("7"), TIP, DONE])
EFFECTS = st.lists(st.builds(
    Effect, st.sampled_from([Harm.REREAD, Harm.SKIPPED, Harm.CRASHES]),
    st.sampled_from([shard_id(0), shard_id(1), None]), st.booleans(), CUTS, CUTS,
), max_size=12)  # fmt: skip


def includes(known, effect):
    same = known.harm is effect.harm and known.shard == effect.shard
    wide = known.since <= effect.since and effect.until <= known.until
    return same and wide and (known.certain or not effect.certain)


@given(EFFECTS, EFFECTS)
def test_an_effect_is_no_price_if_one_before_the_plan_includes_it(before, then):
    known = by_place(before)
    for effect in then:
        assert so_already(effect, known) == any(includes(one, effect) for one in before)
    assert list(price(then, known)) == [e for e in then if not so_already(e, known)]


HOUR = 3600.0


@pytest.mark.parametrize(("costs", "limit", "accept"), [
    ([], None, ""),
    ([Effect(Harm.REREAD, None, True, seconds=HOUR)], None, ""),  # taken without a question
    ([Effect(Harm.REREAD, None, True, seconds=2 * HOUR)], None, "reread=2h30m"),
    ([Effect(Harm.REREAD, None, True, seconds=24 * HOUR)], None, "reread=1d1h"),
    ([Effect(Harm.REREAD, None, True, seconds=2 * HOUR), Effect(Harm.REREAD, None, True)],
     None, "reread=all"),
    ([Effect(Harm.SKIPPED, None, True, seconds=60.0), Effect(Harm.DISORDERED, None, True)],
     None, "skip=30m,disorder"),
    # What is given replaces the hour that is taken unasked, so the hour has to be named again.
    ([Effect(Harm.REREAD, None, True, seconds=600.0)], Accept(reread=60.0), "reread=1h"),
])  # fmt: skip
def test_the_flag_takes_what_is_beyond_the_limit(costs, limit, accept):
    assert flag(Plan((), (), (), price=tuple(costs)), limit) == accept


LOST = Effect(Harm.SKIPPED, shard_id(0), True)
OTHER = Effect(Harm.SKIPPED, shard_id(1), True)


@pytest.mark.parametrize(("whole", "part", "mends_all"), [
    ([LOST], [LOST], True), ([LOST], [], True), ([LOST], [LOST, OTHER], False), ([], [LOST], False),
    ([], [replace(LOST, certain=False)], True), ([], [replace(LOST, gone=True)], True),
    ([], [replace(LOST, past=True)], True), ([], [replace(LOST, inherent=True)], True),
])  # fmt: skip
def test_a_part_mends_every_certain_harm_that_the_whole_mends(whole, part, mends_all):
    """What has expired, is past or belongs to the consumer, no position could keep it from."""
    plans = [Plan((), (), (tuple(effects),)) for effects in (part, whole)]
    assert leaves_no_loss(*plans) is mends_all


@pytest.mark.parametrize(("probe", "told"), [
    (Probe(START, drained=True), []),
    (Probe(START, drained=False), [
        "the reads allowed showed neither a record nor an end in shard 3"]),
    (Probe(START, drained=False, count=1), ["a read found 1 unread record in shard 3"]),
    (Probe(START, drained=False, count=2, more=True), [
        "a read found at least 2 unread records in shard 3"]),
], ids=["drained", "silent", "one", "more"])  # fmt: skip
def test_a_frontier_that_cannot_be_held_says_what_a_read_showed(probe, told):
    cannot = Cannot("no row", ("--probe", "another"), (shard_id(3),), "--probe")
    assert not_held(cannot, {}) == NoSafePlan("no row", ("--probe", "another"))
    assert not_held(cannot, {shard_id(3): probe}) == (
        NoSafePlan("; ".join(["no row", *told]), ("another",))
    )


DYING = [s for s in SITUATIONS if s.expect.dies and s.case.name.startswith("log-missing")]


@pytest.mark.parametrize("one", DYING, ids=str)
def test_a_start_that_dies_and_whose_repair_is_too_dear(one):
    """The connector's log of the newest batch is gone: the query dies, and what is written instead
    reads the batch again (runs R10 on the connectors, November 2026)."""
    decision = one.bench(accept="reread=1s").decide()
    assert isinstance(decision, NoSafePlan)
    assert "costs more than is accepted" in decision.why
    flag = re.fullmatch(r"accept it: --accept (reread=\S+)", decision.ways_out[0])
    assert flag is not None
    assert isinstance(one.bench(accept=flag[1]).decide(), Plan)


def test_there_are_such_situations():
    assert len(DYING) >= 4


@pytest.mark.parametrize("name", ["e1", "e2", "latest-below-a-trimmed-lease"])
@pytest.mark.parametrize("late", [5, 0, -3, -600])
def test_a_stream_whose_clock_runs_ahead_of_ours_is_mended_too(name: str, late: int) -> None:
    """Children at LATEST, born after "now" by our clock: the skip is certain, so it has a plan."""
    case = load(CASES / "kcl" / f"{name}.toml")
    expect = case.expects[0]
    bench = Bench.of(case, expect.initial[0], expect.releases[0])
    lineage = bench.plan_case.state.lineage
    born = max(lineage.opened_at(shard) or 0 for shard in lineage)
    state = dataclasses.replace(bench.plan_case.state, now=born + late)
    skewed = dataclasses.replace(bench, plan_case=replace(bench.plan_case, state=state))
    assert "RSH208" in {finding.code for finding in skewed.findings()}
    assert isinstance(skewed.decide(), Plan)


def test_a_start_past_expired_records_has_a_way_out():
    """docs/source.md, Losses: with failOnDataLoss=false the query goes on behind what is lost."""
    crash = Effect(
        Harm.CRASHES, None, True, cause=Cause.EXPIRED, why="records may be past the retention",
        by=(shard_id(0), shard_id(3)),
    )
    answer = no_safe_plan(crash)
    assert answer.why.endswith("of 0, 3, records may be past the retention")
    assert answer.ways_out == (PAST_EXPIRY,) and "failOnDataLoss=false" in PAST_EXPIRY
