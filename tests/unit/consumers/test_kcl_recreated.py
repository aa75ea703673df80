"""After a recreated stream's table was begun anew, what is left of the old one is no finding."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import Incarnation
from reshardctl.planning.plan import Ask, Nothing, Plan, decide
from tests.support.case import CASES, load
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench

CASE = load(CASES / "kcl" / "d1-waiting.toml")
"""Shard 0 is not listed any more, and its row stays: KCL takes ResourceNotFound for its end."""
EARLIER = "49680104636411742993829714191114409834953595494223314946"
EARLIER_OF_1 = "49680104636434043739028244814260781256504668012689752082"


@pytest.mark.parametrize("initial", ["LATEST", "TRIM_HORIZON"])
def test_the_row_of_a_trimmed_shard_does_not_ask_for_it_again(initial: str) -> None:
    items = [dict(item) for item in CASE.items() if item["leaseKey"]["S"][-1] in "01"]
    for item in items:
        own = EARLIER if item["leaseKey"]["S"].endswith("0") else EARLIER_OF_1
        item["checkpoint"] = {"S": own}
    options = {"initial": initial, "release": "3.5.1"}
    bench = Bench.on(CASE, images_of(items), options)
    assert isinstance(bench.decide(), Ask)
    plan = decide(replace(bench.plan_case, recreated=True))
    assert isinstance(plan, Plan)
    after = Bench.on(CASE, bench.after(plan.steps), options)
    case = after.plan_case
    found = case.consumer.incarnation(case.state.lineage, case.checkpoint())
    assert found is Incarnation.AMBIGUOUS
    assert "RSH102" not in {finding.code for finding in after.findings()}
    assert isinstance(after.decide(), Nothing)
