"""A plan after which nothing is left to plan, found before the first write.

Moving one shard may show that another has to move. Such plans are joined: what they write to one
row becomes one write, guarded by the row as it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from reshardctl.model import Create, Delete, Image, ShardId, Step, Update, Write, changed, writes_of
from reshardctl.planning.decision import Ask, Decision, NoSafePlan, Plan, shards_left

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
