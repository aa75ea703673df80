"""RSH233 over views: a source of Quickwit that may fail again before it has committed anything.

Expectation: what the page of the rule promises. A shard with nothing left to read drains at once,
so no race is left.
"""

from __future__ import annotations

import dataclasses

import pytest
from msgspec.structs import replace

from reshardctl.diagnosis.rules.starts import may_never_commit
from reshardctl.model import START, Cause, Probe
from tests.support.case import CASES, load
from tests.support.judging import Bench
from tests.unit.diagnosis.rules.rule_tables import views_of


@pytest.mark.parametrize(("name", "cause", "ruled_out"), [
    ("two-generations-both-unread", Cause.LIVELOCK, True), ("backfill", Cause.BACKFILL, False),
])  # fmt: skip
def test_a_read_that_finds_all_shards_drained_rules_out_the_livelock_alone(name, cause, ruled_out):
    case = load(CASES / "quickwit" / f"{name}.toml")
    (view,) = views_of(Bench.of(case, "", "0.9.0").plan_case)
    (risk,) = view.simulation.risks
    assert risk.cause is cause
    assert [found.shards for found in may_never_commit(view)] == [risk.shards]
    drained = {shard: Probe(START, drained=True) for shard in risk.shards}
    state = dataclasses.replace(view.state, probes=drained)
    found = list(may_never_commit(replace(view, state=state)))
    assert bool(found) is not ruled_out
