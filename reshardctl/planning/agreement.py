"""One decision if release or options are unknown: all candidates agree, or a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from reshardctl.consumers.base import Candidate
from reshardctl.model import Step, writes_of
from reshardctl.planning.decision import Answer, Ask, Decision, Nothing, Plan, shards_left

_Pair = tuple[Candidate, Decision]


def agree(
    asks: Sequence[str], candidates: Sequence[Candidate], decisions: Sequence[Decision]
) -> Decision:
    """One decision for all candidates, or one question that names every option that matters.

    asks: the options that may be asked for, in this order; decisions: one per candidate.
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
    return _question(asks, list(zip(candidates, decisions, strict=True)))


def alike(decisions: Sequence[Decision]) -> bool:
    """Whether all decisions write the same, or all write nothing, or all are no plan."""
    return all(_same(decisions[0], other) for other in decisions[1:])


def _question(asks: Sequence[str], pairs: Sequence[_Pair]) -> Ask:
    """The fewest options that decide what is right, asked for at once."""
    several = [name for name in asks if len({_value(name, pair) for pair in pairs}) > 1]
    if not several:
        raise AssertionError("candidates with the same options need different plans")
    names = next(
        (names for count in range(1, len(several)) for names in combinations(several, count)
         if all(_agreed(group) for group in _groups(names, pairs))),
        tuple(several),
    )
    answers = list(_answers(names, pairs))
    return Ask(
        names, tuple(answer for answer, _ in answers),
        tuple(tuple(decision for _, decision in group) for _, group in answers),
        {name: default for name in names if (default := _default(name, pairs))},
    )


def _answers(
    names: Sequence[str], pairs: Sequence[_Pair], answer: Answer = ()
) -> Iterator[tuple[Answer, Sequence[_Pair]]]:
    """Each answer with the candidates that it leaves, naming no more options than needed."""
    if not names or (answer and _agreed(pairs)):
        yield answer, pairs
        return
    name, *rest = names
    groups = _groups([name], pairs)
    for group in groups:
        told = (*answer, (name, _value(name, group[0]))) if len(groups) > 1 else answer
        yield from _answers(rest, group, told)


def _groups(names: Sequence[str], pairs: Sequence[_Pair]) -> list[list[_Pair]]:
    """Candidates that an answer to these options does not distinguish."""
    groups: dict[tuple[str, ...], list[_Pair]] = {}
    for pair in pairs:
        groups.setdefault(tuple(_value(name, pair) for name in names), []).append(pair)
    return list(groups.values())


def _agreed(pairs: Sequence[_Pair]) -> bool:
    return alike([decision for _, decision in pairs])


def _value(name: str, pair: _Pair) -> str:
    return pair[0].options.get(name, "")


def _default(name: str, pairs: Sequence[_Pair]) -> str:
    """The library's value without an answer, "" if the candidates differ in it."""
    defaults = {candidate.defaults.get(name, "") for candidate, _ in pairs}
    return defaults.pop() if len(defaults) == 1 else ""


def _same(a: Decision, b: Decision) -> bool:
    if isinstance(a, Plan) and isinstance(b, Plan):
        return _bare(a.steps) == _bare(b.steps) and shards_left(a) == shards_left(b)
    if isinstance(a, Nothing) and isinstance(b, Nothing):
        return shards_left(a) == shards_left(b)
    return type(a) is type(b)


def _bare(steps: Sequence[Step]) -> list[Any]:
    """Steps without words and in one order: only what is written and guarded."""
    bare = [[(w.key, w.change, w.before, w.guard) for w in step.writes] for step in steps]
    return sorted(bare, key=lambda step: step[0][0])


def live_for_all(plans: Sequence[tuple[Step, ...]]) -> tuple[Step, ...]:
    """The first of several plans that write the same; a write is live only if it is in each."""
    against = {
        write.key: write.running for steps in plans for write in writes_of(steps) if not write.live
    }
    if len(plans) == 1:
        return plans[0]
    return tuple(
        replace(step, writes=tuple(
            replace(write, live=False, running=against[write.key])
            if write.key in against else write
            for write in step.writes
        ))
        for step in plans[0]
    )
