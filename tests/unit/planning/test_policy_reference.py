"""Policies by time against the reference consumer: what it delivers is what the plan promised.

The reference consumer is written from KCL's sources and knows nothing of policies or plans. Each
case is fixed twice, losslessly and by the policy; the records that only the first start delivers
are those that the policy skips.

Cases with every kind of finding and of row are looked at under one of their start modes and one of
the policies by a time of the past, in turn; `scripts/test long` has every case and all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from reshardctl.commands.target import policy_of
from reshardctl.model import ShardId
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Nothing, Plan
from reshardctl.report.report import RepairOptions, Report
from tests.proof.exhaustive.direct import Direct
from tests.proof.reference.kcl import Run, run
from tests.support.case import Case, all_cases
from tests.support.case_stream import shard_name
from tests.support.covering import few
from tests.support.grouped import Situation, by_case
from tests.support.inspected_case import ALL, Bench

pytestmark = pytest.mark.slow

RELEASE = "3.5.1"


LATEST, PAST = "latest", ("at-timestamp=@reshard", "at-timestamp=-10m")


def _starts() -> Iterator[tuple[Case, list[str]]]:
    for case in all_cases("kcl"):
        starts = {i for e in case.expects if RELEASE in e.releases for i in e.initial}
        if starts:
            yield case, sorted(starts)


def _policies(case: Case) -> list[str]:
    """`@reshard` only where there was one."""
    resharded = any(shard.parents for shard in case.topology.values())
    return [LATEST, *(PAST if resharded else PAST[1:])]


def _in_turn() -> Iterator[Situation]:
    """A start of a case, with `latest` and one of the other policies."""
    cases = tuple(all_cases("kcl"))
    chosen = [one for one in _starts() if one[0].name in few(cases)]
    for turn, (case, starts) in enumerate(chosen):
        latest, *past = _policies(case)
        for policy in (latest, past[turn // 2 % len(past)]):
            initial = starts[turn % len(starts)]
            yield case.name, f"{initial} {policy}", (case, initial, policy)


def _all() -> Iterator[Situation]:
    for case, starts in _starts():
        for initial in starts:
            for policy in _policies(case):
                yield case.name, f"{initial} {policy}", (case, initial, policy)


CHOSEN = list(_in_turn())
OTHERS = [one for one in _all() if one not in CHOSEN]
CASES = {case.name: case for case in all_cases("kcl")}


@cache
def looked(name: str, initial: str, policy: str) -> tuple[Bench, Report]:
    """Several tests look at one; nothing is changed by it."""
    case = CASES[name]
    bench = Bench(case, initial, RELEASE)
    bootstrap = not case.rows
    recreated = case.stream["created"] if case.name.startswith("recreated") else None
    repair_options = RepairOptions(policy_of(policy), ALL, bootstrap, recreated, count=True)
    return bench, bench.look(repair_options)


def started(case: Case, items: list[dict[str, Any]], initial: str, since: float) -> Run:
    """A start a minute after the plan; meanwhile every open shard has got two records."""
    fake = Direct(case)
    fake.clock.advance(max(0.0, since - fake.clock.now()))
    for shard in case.topology.values():
        if shard.closed is None:
            for index in range(2):
                fake.put(shard.id, f"p{shard.id}-{index}")
    fake.clock.advance(60)
    name, _, seconds = initial.partition(":+")
    start = f"{name}:{case.stream['created'] + int(seconds)}" if seconds else name
    return run(fake, case.stream["name"], items, start, RELEASE)  # type: ignore[arg-type]


@cache
def losslessly(name: str, initial: str, now: float) -> dict[str, Counter[str]]:
    """What comes behind the lossless plan, which each policy is compared with."""
    bench, report = looked(name, initial, "lossless")
    return delivered(started(CASES[name], bench.fixed(report), initial, now))


def delivered(ran: Run) -> dict[str, Counter[str]]:
    """What was there at the plan's time, by shard."""
    return {
        shard: Counter(p for p in payloads if not p.startswith("p"))
        for shard, payloads in ran.delivered.items()
    }


def mended(report: Report) -> bool:
    """Whether nothing stands in the way: a plan or none needed, and nothing left alone."""
    return isinstance(report.decision, Plan | Nothing) and not report.decision.residuals


def misses_nothing_from_the_plan_s_time_on(case: Case, initial: str, policy: str) -> None:
    bench, report = looked(case.name, initial, policy)
    if not mended(report):
        pytest.skip(f"no plan: {type(report.decision).__name__}")
    ran = started(case, bench.fixed(report), initial, bench.fake.clock.now())
    for shard in case.topology.values():
        if shard.closed is None:
            name = shard_name(shard.id)
            got = [p for p in ran.delivered.get(name, ()) if p.startswith("p")]
            assert got == [f"p{shard.id}-0", f"p{shard.id}-1"], (name, ran.stuck)


def prints_what_is_skipped_and_read_again(case: Case, initial: str, policy: str) -> None:
    whole, strict = looked(case.name, initial, "lossless")
    bench, report = looked(case.name, initial, policy)
    if not (mended(report) and mended(strict)) or not isinstance(report.decision, Plan):
        pytest.skip("no plan")
    now = max(whole.fake.clock.now(), bench.fake.clock.now())
    first = losslessly(case.name, initial, now)
    second = delivered(started(case, bench.fixed(report), initial, now))
    costs = {e.shard: e for e in report.decision.costs if not e.gone}
    again = {e.shard: e for e in report.decision.after[0] if e.harm is Harm.REREAD}
    plan = strict.decision
    kept = plan.after[0] if isinstance(plan, Plan) else strict.judged[0].effects
    twice = {e.shard for e in kept if e.harm is Harm.REREAD}
    for shard in case.records:
        one, other = first.get(shard, Counter()), second.get(shard, Counter())
        # A parent without a lease whose children have progressed counts as read. KCL may read it
        # again all the same, and a lossless plan leaves it that (noless); under the policy it does
        # not. What was settled is no skip, and the plan rightly counts none.
        if other or shard not in twice:
            skipped = costs.get(ShardId(shard))
            assert (one - other).total() == _counted(skipped), (shard, one - other)
        read_again = again.get(ShardId(shard))
        if read_again is None or read_again.certain:
            assert (other - one).total() == _counted(read_again), (shard, other - one)


@by_case(one for one in CHOSEN if one[2][2] == LATEST)
def test_latest_misses_nothing_from_the_plan_s_time_on(
    case: Case, initial: str, policy: str
) -> None:
    misses_nothing_from_the_plan_s_time_on(case, initial, policy)


@by_case(CHOSEN)
def test_what_is_printed_is_what_is_skipped_and_read_again(
    case: Case, initial: str, policy: str
) -> None:
    prints_what_is_skipped_and_read_again(case, initial, policy)


@pytest.mark.long
@by_case(OTHERS)
def test_both_under_every_other_start_and_policy(case: Case, initial: str, policy: str) -> None:
    if policy == LATEST:
        misses_nothing_from_the_plan_s_time_on(case, initial, policy)
    prints_what_is_skipped_and_read_again(case, initial, policy)


def _counted(effect: Effect | None) -> int:
    """How many records, exactly."""
    if effect is None:
        return 0
    assert effect.records is not None and not effect.records.at_least
    return effect.records.records
