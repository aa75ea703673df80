"""Fixes that were stopped between two writes, over drawn states: each can go on.

Nothing else has changed, so the rest does and costs what the whole plan has shown.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import ReshardError
from reshardctl.execution.plan_file import of_report
from reshardctl.execution.proof import require_promises
from reshardctl.model import Step, after
from reshardctl.planning.effects import Effect
from reshardctl.planning.plan import Plan
from reshardctl.report.report import RepairOptions, make
from tests.proof.drawn.families import FAMILIES
from tests.proof.drawn.states import State
from tests.proof.drawn.trial import bench_of

STORE = {
    "kcl": "kcl://orders-app", "kinsumer": "kinsumer://orders-app",
    "kinesis-consumer": "kinesis-consumer+ddb://positions",
}
FIRST = {
    "reference-kcl-1.15.3": 5020, "reference-kcl-3.1.3": 5000, "reference-kinesis-consumer": 6028,
    "reference-kinesis-consumer-by-time": 6005, "reference-kinesis-consumer-master": 6129,
    "reference-telegraf": 6057, "reference-kinsumer-twitch": 6000,
}
"""Family to its first seed. kinsumer's plans were right before; of the others some were refused."""
NUMBERS = [10, pytest.param(100, marks=pytest.mark.long)]


def one_by_one(state: State, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """What a store without transactions over several rows makes of steps."""
    if state.consumer == "kcl":
        return steps
    return tuple(replace(step, writes=(write,)) for step in steps for write in step.writes)


def costs(price: tuple[Effect, ...]) -> set[tuple[str, str]]:
    return {(str(effect.harm), str(effect.shard)) for effect in price}


def refused(state: State) -> Iterator[str]:
    """The prefixes of the state's plan after which it cannot go on, or costs something else."""
    options = "&".join(f"{name}={value}" for name, value in state.options.items())
    try:
        lineage = bench_of(state, state.images).plan_case.state.lineage
        stored = Snapshot(
            parse(f"{STORE[state.consumer]}?{options}"), lineage, tuple(state.images),
            {"medium": "dynamodb"}, float(state.case.now),
        )
        report = make(stored, RepairOptions())
    except ReshardError:
        return
    if not isinstance(report.decision, Plan):
        return
    steps = one_by_one(state, report.decision.steps)
    plan = replace(of_report(report, probe=False), steps=steps)
    for count in range(1, len(steps)):
        left = replace(stored, images=tuple(after(stored.images, steps[:count])))
        try:
            rest = require_promises(plan, left, list(steps[count:]), "reshardctl undo J")
        except ReshardError as error:
            yield f"{state.name}, after {count} of {len(steps)}: {error}"
            continue
        if more := costs(rest.price) - costs(report.decision.price):
            yield f"{state.name}, after {count} of {len(steps)}: costs {more}, too"


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", FIRST)
def test_a_fix_that_was_stopped_can_go_on(name: str, number: int) -> None:
    family, first = FAMILIES[name], FIRST[name]
    found = [why for seed in range(first, first + number) for why in refused(family.state(seed))]
    assert not found, "\n".join(found)
