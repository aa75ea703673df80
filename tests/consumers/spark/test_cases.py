"""Every Spark case through the core: forecast, findings, the fix, and the start after it.

The expectations are the case files', which cite the runs on the real connectors or their sources;
the reference of the connectors executes the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from reshardctl.model import Image
from reshardctl.plan import Ask, NoLine, Nothing, Plan
from reshardctl.rules import Severity
from tests.case import Case, Expect, all_cases
from tests.dialects import spark as dialect
from tests.judging import Bench, delivered, options_of

SAID = {"qubole": "true", "awslabs": "false", "lineage": "true"}
"""failOnDataLoss unless a case says otherwise: each connector's own default."""


def _expects() -> Iterator[Any]:
    for case in all_cases("spark"):
        for expect in case.expects:
            for initial in expect.initial:
                for release in expect.releases:
                    name = f"{case.name}-{initial.partition(':')[0]}-{release}"
                    yield pytest.param(case, initial, release, expect, id=name)


every = pytest.mark.parametrize(("case", "initial", "release", "expect"), list(_expects()))


def bench(
    case: Case, initial: str, release: str, expect: Expect, images: list[Image] | None = None
) -> Bench:
    stored = dialect.images(case) if images is None else images
    fails = SAID[case.state["query"].get("connector", "awslabs")]
    sink = {} if expect.fixed and expect.fixed.refused == "ask:sink" else {"sink": "other"}
    said = {"failOnDataLoss": fails, **sink, **expect.options}
    options = {**said, **options_of(case, initial, release)}
    fixed = expect.fixed
    policy, accept = (fixed.policy, fixed.accept) if fixed else ("lossless", "")
    return Bench.on(case, stored, options, policy, accept, expect.probe)


def wanted(case: Case, deliveries: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {s["ShardId"]: tuple(deliveries.get(s["ShardId"], ())) for s in case.shards}


def codes(one: Bench) -> set[str]:
    return {f.code for f in one.findings() if f.severity >= Severity.WARNING}


@every
def test_forecast(case: Case, initial: str, release: str, expect: Expect) -> None:
    one = bench(case, initial, release, expect)
    for run in one.replays():
        assert (run.crash is not None) == expect.dies
        found = delivered(case, run, one.plan_case.around.lineage)
        assert found == wanted(case, expect.delivers)


@every
def test_findings(case: Case, initial: str, release: str, expect: Expect) -> None:
    assert codes(bench(case, initial, release, expect)) == set(expect.findings)


@every
def test_fix(case: Case, initial: str, release: str, expect: Expect) -> None:
    fixed = expect.fixed
    if fixed is None:
        pytest.skip("the case says nothing of a fix")
    one = bench(case, initial, release, expect)
    decision = one.decide()
    if fixed.refused:
        kinds = {"noline": NoLine, "residual": Nothing}
        assert isinstance(decision, kinds.get(fixed.refused, Ask)), decision
        if isinstance(decision, Ask):
            assert decision.option == fixed.refused.removeprefix("ask:")
        return
    assert isinstance(decision, Plan | Nothing), decision
    steps = decision.steps if isinstance(decision, Plan) else ()
    assert dialect.spelled(case, steps) == dict(fixed.writes)
    after = bench(case, initial, release, expect, one.after(steps))
    for run in after.replays():
        found = delivered(case, run, one.plan_case.around.lineage)
        assert found == wanted(case, fixed.delivers)
    assert codes(after) == set(fixed.remains)
    assert isinstance(after.decide(), Nothing), "the second plan is empty"


@every
def test_the_files_are_those_of_the_fix_by_hand(
    case: Case, initial: str, release: str, expect: Expect
) -> None:
    fixed = expect.fixed
    if fixed is None or fixed.refused or not fixed.writes:
        pytest.skip("the case fixes nothing")
    one = bench(case, initial, release, expect)
    decision = one.decide()
    assert isinstance(decision, Plan)
    by_hand = {i.key: i.attributes for i in dialect.repaired(case, fixed.writes)}
    found = {i.key: i.attributes for i in one.after(decision.steps)}
    assert found == by_hand
