"""Joins plans: with those that they make necessary, and with those of other candidates.

Moving one shard may show that another has to move. What such plans write to one row becomes one
write, guarded by the row as it was read, and nothing is left to plan before the first write.

Candidates that would each write another plan get the cheapest one that is right for all: each
candidate's is continued until no candidate has more to write, and proven under all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from reshardctl.model import (
    Create,
    Delete,
    Image,
    ShardId,
    Step,
    Update,
    Write,
    after,
    changed,
    writes_of,
)
from reshardctl.planning.decision import Ask, Decision, NoSafePlan, Nothing, Plan, shards_left
from reshardctl.planning.effects import Harm

PASSES = 8
"""The most plans that are joined before giving up."""

Proof = Callable[[Sequence[Step]], Plan | None]
"""Makes a plan of these steps, proven on the rows as they were read; `None` if it is worse."""


@dataclass(frozen=True, slots=True)
class Planning:
    """What `fixpoint` works with.

    after: the rows after steps. again: a decision on other rows, as if they were stored. shard_of:
    the shard whose position a row holds. proven: see Proof.
    """

    after: Callable[[Sequence[Step]], Sequence[Image]]
    again: Callable[[Sequence[Image]], Decision]
    shard_of: Callable[[str], ShardId]
    proven: Proof


def fixpoint(planning: Planning, plan: Plan) -> Decision:
    """The plan, or a longer one that starts with it, after which the next one is empty.

    NoSafePlan if there is none. A shard that is left alone because its repair costs more than is
    accepted stays left alone, even if the plan makes its repair cheaper. A plan that waits for the
    consumer is returned as it is: what follows depends on what the consumer does.
    """
    if any(step.barrier for step in plan.steps):
        return plan
    whole = plan
    for _ in range(PASSES):
        more = planning.again(planning.after(whole.steps))
        if isinstance(more, Ask) and more.options == ("recreated",):
            return _of_nobody()
        if not isinstance(more, Plan):
            return whole
        steps = _without(more.steps, shards_left(plan), planning)
        longer = _joined(planning, whole, steps) if steps else None
        if longer is None:
            return whole if plan.residuals else _none(more)
        whole = longer
    return _none(whole)


def _without(steps: Iterable[Step], left: set[ShardId], planning: Planning) -> list[Step]:
    """The steps without the rows of shards that are left alone."""
    kept = (
        replace(step, writes=tuple(
            write for write in step.writes if planning.shard_of(write.key) not in left
        ))
        for step in steps
    )
    return [step for step in kept if step.writes]


def _joined(planning: Planning, plan: Plan, more: Sequence[Step]) -> Plan | None:
    """Both as one proven plan; `None` if a start after it would be worse."""
    steps = joined(plan.steps, more)
    proof = planning.proven(steps) if steps else None
    return proof and replace(proof, before=plan.before, residuals=plan.residuals)


def _of_nobody() -> NoSafePlan:
    return NoSafePlan(
        "after the repair no number would show any more that the rows are this stream's, for the "
        "numbers that are left are older than it",
        ("settle these first: reshardctl rule RSH207",),
    )


def _none(more: Plan) -> NoSafePlan:
    titles = ", ".join(step.title for step in more.steps[:3])
    return NoSafePlan(
        f"whatever is written, there is more to do afterwards ({titles})",
        ("see the findings for what helps",),
    )


def joined(steps: Iterable[Step], more: Iterable[Step]) -> list[Step]:
    """Both lists as one, each row written once, at its first write."""
    later = {write.key: write for write in writes_of(more)}
    result = []
    for step in steps:
        writes = [
            both(write, later.pop(write.key)) if write.key in later else write
            for write in step.writes
        ]
        result.append(replace(step, writes=tuple(w for w in writes if w is not None)))
    for step in more:
        result.append(replace(step, writes=tuple(w for w in step.writes if w.key in later)))
    return [step for step in result if step.writes]


def both(first: Write, second: Write) -> Write | None:
    """Two successive writes of one row as one; `None` if they cancel out."""
    middle = changed(first.before, first)
    last = changed(middle, second)
    if last == first.before:
        return None
    return Write(
        first.key, _change(first, second, last), first.before,
        first.why if first.why == second.why else f"{first.why}; {second.why}",
        tuple(dict.fromkeys([*first.guard, *(second.guard if first.before is not None else ())])),
        first.live and second.live, first.running if not first.live else second.running,
    )


def _change(first: Write, second: Write, last: Image | None) -> Create | Update | Delete:
    if last is None:
        return Delete()
    if first.before is None:
        return Create(last.attributes)
    counted = _counted(first) | _counted(second)
    values = {
        name: value for name, value in last.attributes.items()
        if name not in counted and first.before.attributes.get(name) != value
    }
    gone = tuple(name for name in first.before.attributes if name not in last.attributes)
    steps = {name: _grown(first, name) + _grown(second, name) for name in sorted(counted)}
    return Update(values, gone, steps or None)


def _counted(write: Write) -> set[str]:
    return set(write.change.add or ()) if isinstance(write.change, Update) else set()


def _grown(write: Write, name: str) -> int:
    return (write.change.add or {}).get(name, 0) if isinstance(write.change, Update) else 0


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
