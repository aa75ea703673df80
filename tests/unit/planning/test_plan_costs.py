"""A repair that costs more than is accepted names the flag that accepts it, and that flag does."""

from __future__ import annotations

import dataclasses
import re

import pytest
from msgspec.structs import replace

from reshardctl.planning.plan import NoSafePlan, Plan
from tests.support.case import CASES, load
from tests.support.judging import Bench
from tests.whole.test_cases_dialects import SITUATIONS

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
