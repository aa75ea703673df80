"""One plan for candidates that would each write another: the cheapest that is right for all.

Each candidate's plan is continued until no candidate has more to write, and proven under all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reshardctl.model import Image, ShardId, Step, after, writes_of
from reshardctl.planning.decision import Decision, Nothing, Plan, shards_left
from reshardctl.planning.effects import Harm
from reshardctl.planning.fixpoint import PASSES, Proof, joined

NOT_FOR_ALL = "not every release or option that may be at work is known to take it while it runs"


@dataclass(frozen=True, slots=True)
class Trial:
    """What `joint` works with.

    again: every candidate's decision on other rows, as if they were stored. proven: see Proof; it
    simulates a start of every candidate.
    """

    images: Sequence[Image]
    again: Callable[[Sequence[Image]], Sequence[Decision]]
    proven: Proof


def joint(trial: Trial, decisions: Sequence[Decision]) -> Plan | None:
    """The cheapest plan after which no candidate loses anything or has more to write.

    `None` if there is none, if a candidate has no plan of its own to compare with, or if one waits
    for the consumer. What a candidate leaves alone stays left alone.
    """
    if not all(_plain(decision) for decision in decisions):
        return None
    plans = [decision for decision in decisions if isinstance(decision, Plan)]
    proofs = []
    tried: list[tuple[Step, ...]] = []
    for plan in plans:
        if plan.steps in tried:
            continue
        tried.append(plan.steps)
        steps = _carried_on(trial, plan, decisions)
        proof = trial.proven(steps) if steps else None
        if proof is not None and not _disorders(proof, decisions):
            proofs.append(proof)
    if not proofs:
        return None
    best = min(proofs, key=_cost)
    left = {r.shard: r for d in decisions if isinstance(d, Plan | Nothing) for r in d.residuals}
    steps = _live_if_all(best.steps, decisions)
    return replace(best, steps=steps, residuals=tuple(left.values()))


def _plain(decision: Decision) -> bool:
    """Whether it is nothing, or a plan that can be written at once."""
    if isinstance(decision, Plan):
        return not any(step.barrier for step in decision.steps)
    return isinstance(decision, Nothing)


def _carried_on(trial: Trial, plan: Plan, own: Sequence[Decision]) -> Sequence[Step]:
    """The plan's steps with those that other candidates would write after them.

    None if they have no end, or leave more shards alone than the plan.
    """
    steps: Sequence[Step] = plan.steps
    for _ in range(PASSES):
        decisions = trial.again(after(trial.images, steps))
        if not all(_plain(decision) for decision in decisions):
            return ()
        pairs = zip(decisions, own, strict=True)
        if any(shards_left(decision) - shards_left(alone) for decision, alone in pairs):
            return ()
        more = next((d for d in decisions if isinstance(d, Plan)), None)
        if more is None:
            return steps
        steps = joined(steps, more.steps)
    return ()


def _disorders(plan: Plan, decisions: Sequence[Decision]) -> bool:
    """Whether the plan disorders a shard that some candidate's own plan keeps in order."""
    new = _disordered(plan)
    return any(new - _disordered(decision) for decision in decisions)


def _disordered(decision: Decision) -> set[ShardId | None]:
    price = decision.price if isinstance(decision, Plan) else ()
    return {effect.shard for effect in price if effect.harm is Harm.DISORDERED}


def _cost(plan: Plan) -> tuple[float, float, int]:
    """Sort key of a plan: skipped, then re-read, then number of writes."""
    return (_seconds(plan, Harm.SKIPPED), _seconds(plan, Harm.REREAD), len(writes_of(plan.steps)))


def _seconds(plan: Plan, harm: Harm) -> float:
    widths = [e.seconds for e in plan.price if e.harm is harm]
    return sum(float("inf") if width is None else width for width in widths)


def _live_if_all(steps: Sequence[Step], decisions: Sequence[Decision]) -> tuple[Step, ...]:
    """The steps, live only where every candidate's own plan has the same write as live."""
    alike = [
        {w.key: w.change for w in writes_of(d.steps) if w.live} if isinstance(d, Plan) else {}
        for d in decisions
    ]
    return tuple(
        replace(step, writes=tuple(
            w if not w.live or all(changes.get(w.key) == w.change for changes in alike)
            else replace(w, live=False, running=NOT_FOR_ALL)
            for w in step.writes
        ))
        for step in steps
    )
