"""Every case of every library and of every rule, through the core: forecast, findings, plan, and
after it.

The expectations are the case files', which cite the runs on the real libraries; the reference
consumers and, where they can be had, the libraries themselves execute the same files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.diagnosis.rules import Severity
from reshardctl.model import Image, after
from reshardctl.planning.plan import Ask, NoSafePlan, Nothing, Plan
from tests.support.case import INCIDENTS, RULES, Case, Expect, all_cases
from tests.support.dialects import Dialect, dialect_of, spoken
from tests.support.grouped import by_case
from tests.support.judging import Bench, delivered, options_of

REFUSALS = {"noline": NoSafePlan, "ask": Ask, "residual": Nothing}


@dataclass(frozen=True, eq=False)
class Situation:
    """One case under one start mode and one release."""

    case: Case
    expect: Expect
    initial: str
    release: str

    def __str__(self) -> str:
        case = self.case
        words = [case.consumer, case.name, self.initial, self.release]
        words += self.expect.options.values()
        return "-".join(word for word in words if word)

    @property
    def dialect(self) -> Dialect:
        return dialect_of(self.case.consumer)

    @cache  # noqa: B019 - a situation lives as long as its module
    def stored(self, policy="lossless", accept="") -> Bench:
        """The rows as the case has them; made once for all tests here."""
        return self.bench(None, policy, accept)

    def bench(self, images=None, policy="lossless", accept="") -> Bench:
        options = options_of(self.case, self.initial, self.release) | dict(self.expect.options)
        rows = self.dialect.images(self.case) if images is None else images
        return Bench.on(self.case, rows, options, policy, accept, self.expect.probe)


def _situations(*folders: str) -> Iterator[Situation]:
    for folder in folders:
        for case in all_cases(folder):
            for expect in case.expects:
                for initial in expect.initial:
                    for release in expect.releases:
                        yield Situation(case, expect, initial, release)


KCL = list(_situations("kcl", "kcl-tables"))
OTHERS = list(_situations(
    *(name for name in spoken() if name != "kcl" and name in CONSUMERS), RULES, INCIDENTS
))  # fmt: skip
SITUATIONS = [*KCL, *OTHERS]
STORED = [*(s for s in KCL if s.case.rows), *OTHERS]
"""Without those of a lease table that is empty: it is filled, and nothing is wrong with it."""


def grouped(situations: Iterable[Situation]):
    return by_case((f"{s.case.consumer}-{s.case.name}", str(s), (s,)) for s in situations)


def codes(bench: Bench) -> set[str]:
    return {f.code for f in bench.findings() if f.severity >= Severity.WARNING}


def infos(bench: Bench) -> set[str]:
    return {f.code for f in bench.findings() if f.severity < Severity.WARNING}


def delivers(one: Situation, bench: Bench) -> list[dict[str, tuple[str, ...]]]:
    lineage = bench.plan_case.state.lineage
    return [delivered(one.case, run, lineage) for run in bench.replays()]


def whole(one: Situation, wanted) -> dict[str, tuple[str, ...]]:
    return {s["ShardId"]: wanted.get(s["ShardId"], ()) for s in one.case.shards}


@grouped(SITUATIONS)
def test_forecast(one: Situation):
    bench = one.stored()
    assert {run.crash is not None for run in bench.replays()} == {one.expect.dies}
    for found in delivers(one, bench):
        assert found == whole(one, one.expect.delivers)


@grouped(STORED)
def test_findings(one: Situation):
    assert codes(one.stored()) == set(one.expect.findings)


@grouped([s for s in SITUATIONS if s.expect.infos is not None])
def test_infos(one: Situation):
    assert infos(one.stored()) == one.expect.infos


@grouped(s for s in STORED if s.expect.fixed)
def test_fix(one: Situation):
    fixed = one.expect.fixed
    assert fixed is not None
    bench = one.stored(fixed.policy, fixed.accept)
    decision = bench.decide()
    if fixed.refused:
        kind, _, option = fixed.refused.partition(":")
        assert isinstance(decision, REFUSALS[kind]), decision
        assert not option or option in decision.options
        return
    assert isinstance(decision, Plan | Nothing), decision
    steps = decision.steps if isinstance(decision, Plan) else ()
    assert one.dialect.spelled(one.case, steps) == wanted(one)
    then = one.bench(bench.after(steps), fixed.policy, fixed.accept)
    assert {run.crash is not None for run in then.replays()} == {fixed.dies}
    for found in delivers(one, then):
        assert found == whole(one, fixed.delivers)
    assert codes(then) == set(fixed.remains)
    blocked = any(left.why for left in decision.residuals)
    second = NoSafePlan if blocked else Nothing
    assert isinstance(then.decide(), second), "the second plan is empty"


def wanted(one: Situation) -> dict[int, str]:
    """The case's writes; those of KCL name a record, as s0-1, where its number is written."""
    writes = dict(one.expect.fixed.writes)
    if one.case.consumer == "kcl":
        records = {n for n, text in writes.items() if text.startswith("s") and text != "same"}
        writes |= {n: one.case.number_of(writes[n]) for n in records}
    return writes


@grouped(s for s in OTHERS if s.expect.fixed)
def test_the_writes_by_hand_make_the_same_rows(one: Situation):
    """What the plan writes is what a hand that knows the format would have written."""
    fixed = one.expect.fixed
    assert fixed is not None
    decision = one.stored(fixed.policy, fixed.accept).decide()
    if fixed.refused or not isinstance(decision, Plan):
        assert not fixed.writes
        return
    free: frozenset[str] = getattr(one.dialect, "STAMPS", frozenset())
    rows = after(one.dialect.images(one.case), decision.steps)
    by_hand = one.dialect.repaired(one.case, fixed.writes)
    assert [_timeless(i, free) for i in rows] == [_timeless(i, free) for i in by_hand]


def _timeless(image: Image, stamps: frozenset[str]) -> tuple[str, dict]:
    """A row whose times, by which its library decides nothing, are there or not, and no more."""
    kept = {n: sorted(v) if n in stamps else v for n, v in image.attributes.items()}
    return image.key, kept
