"""Decisions on positions that the operator gives: which rows to leave alone, and what to refuse."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from reshardctl.model import ShardId, TargetFrontier
from reshardctl.planning.decision import NoSafePlan
from reshardctl.planning.effects import Effect
from reshardctl.planning.given_positions import not_held, why_not_held
from reshardctl.planning.judged_case import Case, Judged
from reshardctl.planning.prices import by_place, price


def not_as_given(case: Case, leave: Collection[ShardId], run: Judged) -> NoSafePlan | None:
    """The answer if a start does not read the shards from where the operator wants them."""
    places = case.policy.places
    if not case.policy.names_shards or run.simulation.crash is not None:
        return None
    if not (wrong := dict(not_held(case.state, places, leave, run.simulation))):
        return None
    return NoSafePlan(why_not_held(wrong, places), ("give those shards another position",))


def not_given(case: Case, want: TargetFrontier, checkpoint: Any) -> set[ShardId]:
    """The shards that are left alone because the operator names others."""
    if not case.policy.names_shards:
        return set()
    return (want.keys() | case.consumer.positions(checkpoint).keys()) - case.policy.places.keys()


def stored_as_given(case: Case) -> bool:
    """Whether the operator gives positions, and the rows hold all of them already."""
    places = case.policy.places
    if not case.policy.names_shards:
        return False
    app = case.candidates[0].app
    stored = case.consumer.stored_cuts(case.state.lineage, case.checkpoint(), app)
    return all(stored.get(shard) == cut for shard, cut in places.items())


def unsaid(
    case: Case, costs: Sequence[Effect], before: Sequence[Effect]
) -> tuple[Effect, ...]:
    """What the policy skips without saying so in its name: consent is asked for it, too."""
    return price(costs, by_place(before)) if case.policy.names_shards else ()
