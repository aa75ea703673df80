"""Plans of some shards only, over drawn states: each is sound, and nothing else is written."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import MANY
from reshardctl.errors import ReshardError
from reshardctl.model import Image, ShardId
from reshardctl.planning.decision import Scope
from reshardctl.planning.plan import Case, Decision, NoSafePlan, Nothing, Plan, decide
from reshardctl.planning.within_scope import touched
from tests.proof.drawn.families import FAMILIES
from tests.proof.drawn.states import State
from tests.proof.drawn.trial import Judge, bench_of, worse

DRAWN = [
    "reference-kinsumer-twitch", "reference-kinsumer-snowplow", "reference-kinesis-consumer",
    "reference-kinesis-consumer-master", "reference-telegraf", "reference-quickwit-0.8.2",
    "reference-quickwit-0.9.0", "reference-kcl-1.13.3", "reference-kcl-2.7.2",
    "reference-kcl-3.5.1", "reference-kcl-3.5.1-multi",
]
FIRST = {"reference-quickwit-0.8.2": 20}
"""Families of which a plan is made late: at seed 27."""
NUMBERS = [10, pytest.param(60, marks=pytest.mark.long)]


def some_shards(case: Case, seed: int) -> frozenset[ShardId]:
    """Up to three of the shards that the stream or the rows name; of every second state some of
    those that the whole plan writes, so that what it needs is often left out."""
    rng = Random(f"scope {seed}")
    known = {*case.state.lineage, *case.consumer.positions(case.checkpoint())}
    whole = decide(case) if seed % 2 else Nothing()
    if isinstance(whole, Plan):
        known = known & touched(case, whole.steps).keys() or known
    return frozenset(rng.sample(sorted(known), rng.randint(1, min(len(known), 3))))


def written_rows(case: Case, before: list[Image], after: list[Image]) -> set[ShardId]:
    """The shards of the rows that differ in any attribute, or are there only once."""
    was, now = ({image.key: image for image in rows} for rows in (before, after))
    keys = {key for key in was.keys() | now.keys() if was.get(key) != now.get(key)}
    return {case.consumer.shard_of(key) for key in keys}


def complaints(state: State, judge: Judge) -> tuple[str, list[str]]:
    """What became of the partial plan, and everything that does not hold of it."""
    try:
        bench = bench_of(state, state.images)
        selected = some_shards(bench.plan_case, state.seed)
        case = replace(bench.plan_case, scope=Scope(selected))
        decision = decide(case)
    except ReshardError as refused:
        return type(refused).__name__, []
    if isinstance(decision, NoSafePlan) and decision.needs:
        return "Refused", unhelpful(case, frozenset(decision.needs))
    if not isinstance(decision, Plan):
        return type(decision).__name__, []
    rows = bench.after(decision.steps)
    inside = selected | {one.shard for one in decision.added}
    wrong = [
        f"{shard} is written, and not in {sorted(inside)}"
        for shard in written_rows(case, state.images, rows) - inside - {MANY}
    ]
    before, after = judge(state, state.images), judge(state, rows)
    if not before.uncertain and not after.uncertain:
        wrong += [str(violation) for violation in worse(state, before, after)]
        if after.died and not before.died:
            wrong.append("it dies after the partial plan, and did not before")
    wrong += second_plan(decide(replace(case, images=rows)), decision)
    return "Extended" if decision.added else "Plan", wrong


def unhelpful(case: Case, needs: frozenset[ShardId]) -> list[str]:
    """Why what a refusal asks for cannot be selected, or is refused as well."""
    known = {*case.state.lineage, *case.consumer.positions(case.checkpoint())}
    if unknown := needs - known:
        return [f"nothing names {sorted(unknown)}, which it needs"]
    again = decide(replace(case, scope=Scope(needs)))
    return [] if isinstance(again, Plan) else [f"what it needs is refused too: {again}"]


def second_plan(second: Decision, first: Plan) -> list[str]:
    """The plan after the plan is empty, or there is none for a reason that the first one named."""
    if isinstance(second, Nothing):
        return []
    stays = {effect.why for run in first.after for effect in run}
    stays |= {left.why for left in first.residuals if left.why}
    if isinstance(second, NoSafePlan) and any(why in second.why for why in stays):
        return []
    return [f"the second partial plan is not empty: {second}"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", DRAWN)
def test_a_partial_plan_is_sound_by_itself(name: str, number: int) -> None:
    family = FAMILIES[name]
    kinds: Counter[str] = Counter()
    with family.judges(1) as judge:
        for seed in range(FIRST.get(name, 0), FIRST.get(name, 0) + number):
            state = family.state(seed)
            kind, wrong = complaints(state, judge)
            kinds[kind] += 1
            assert not wrong, f"{state.name} ({state.title}): {wrong}"
    assert kinds["Plan"] or kinds["Extended"], kinds
