"""One decision where release or options are unknown: all candidates agree, or one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reshardctl.consumers.base import Candidate
from reshardctl.decision import Ask, Decision, Nothing, Plan
from reshardctl.liveness import live_for_all
from reshardctl.model import ShardId, Step


def agree(
    asks: Sequence[str], candidates: Sequence[Candidate], decisions: Sequence[Decision]
) -> Decision:
    """One decision for all candidates, or the option that tells them apart.

    asks: the options that may be asked for, in this order; decisions: one a candidate.
    """
    first = decisions[0]
    if alike(decisions):
        if isinstance(first, Plan):
            plans = [d for d in decisions if isinstance(d, Plan)]
            steps = live_for_all([plan.steps for plan in plans])
            afters = tuple(plan.after[0] for plan in plans)
            notes = tuple(dict.fromkeys(note for plan in plans for note in plan.notes))
            price = tuple(dict.fromkeys(effect for plan in plans for effect in plan.price))
            return Plan(steps, first.before, afters, first.residuals, first.costs, notes, price)
        return first
    for option in asks:
        values = [c.options.get(option, "") for c in candidates]
        groups: dict[str, list[Decision]] = {}
        for value, decision in zip(values, decisions, strict=True):
            groups.setdefault(value, []).append(decision)
        if len(groups) > 1 and all(
            _same(group[0], d) for group in groups.values() for d in group
        ):
            return _ask(option, candidates, decisions)
    return _first_open(asks, candidates, decisions)


def alike(decisions: Sequence[Decision]) -> bool:
    """Whether all of them write the same, or nothing, or are no plan."""
    return all(_same(decisions[0], other) for other in decisions[1:])


def _first_open(
    asks: Sequence[str], candidates: Sequence[Candidate], decisions: Sequence[Decision]
) -> Ask:
    """The first option whose values come to different things; else the first that has several."""
    questions = [_ask(option, candidates, decisions) for option in asks]
    several = [ask for ask in questions if len(ask.values) > 1]
    if not several:
        raise AssertionError("candidates with the same options need different plans")
    return next((ask for ask in several if _tells(ask.decisions)), several[0])


def _tells(groups: Sequence[Sequence[Decision]]) -> bool:
    """Whether an answer leaves less open than there was."""
    first = groups[0]
    return any(not (_covers(first, group) and _covers(group, first)) for group in groups[1:])


def _covers(group: Sequence[Decision], other: Sequence[Decision]) -> bool:
    return all(any(_same(one, decision) for one in group) for decision in other)


def _ask(
    option: str, candidates: Sequence[Candidate], decisions: Sequence[Decision]
) -> Ask:
    """The question, with what each answer comes to and what the library does without one."""
    found: dict[str, list[Decision]] = {}
    for candidate, decision in zip(candidates, decisions, strict=True):
        found.setdefault(candidate.options.get(option, ""), []).append(decision)
    defaults = {candidate.defaults.get(option, "") for candidate in candidates}
    default = defaults.pop() if len(defaults) == 1 else ""
    return Ask(option, tuple(found), tuple(map(tuple, found.values())), default)


def _same(a: Decision, b: Decision) -> bool:
    if isinstance(a, Plan) and isinstance(b, Plan):
        return _bare(a.steps) == _bare(b.steps) and _left(a) == _left(b)
    if isinstance(a, Nothing) and isinstance(b, Nothing):
        return _left(a) == _left(b)
    return type(a) is type(b)


def _left(decision: Plan | Nothing) -> set[ShardId]:
    return {residual.shard for residual in decision.residuals}


def _bare(steps: Sequence[Step]) -> list[Any]:
    """Steps without words and in one order: only what is written and guarded."""
    bare = [[(w.key, w.change, w.before, w.guard) for w in step.writes] for step in steps]
    return sorted(bare, key=lambda step: step[0][0])
