"""Joins plans: with those that they make necessary, and with those of other candidates.

Moving one shard may show that another has to move. What such plans write to one row becomes one
write, guarded by the row as it was read, and nothing is left to plan before the first write.

Candidates that would each write another plan get the cheapest one that is right for all: each
candidate's is continued until no candidate has more to write, and proven under all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, Self

from msgspec.structs import replace

from reshardctl.consumers.base import Consumer
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Create,
    Delete,
    Image,
    ShardId,
    Step,
    Update,
    Write,
    changed,
    keys_of,
    writes_of,
)
from reshardctl.planning.decision import Decision, Nothing, Plan, shards_left
from reshardctl.planning.effects import Harm

PASSES = 8
"""The most plans that are joined before giving up."""
NOT_FOR_ALL = "not every release or option that may be at work is known to take it while it runs"


class SideBySide(Protocol):
    """Several that each want a plan of their own: the candidates of a case, or its answers."""

    def after(self, steps: Sequence[Step]) -> Self:
        """The same after steps, as if they were written."""

    def still_to_do(self) -> Sequence[Decision]:
        """What each of them would write."""

    def right_for_all(self, steps: Sequence[Step]) -> Plan | None:
        """These steps as a plan, `None` if it is wrong for one of them."""

    def joined(self, steps: Sequence[Step], more: Sequence[Step]) -> Sequence[Step]:
        """Both lists as one."""


def cheapest(several: SideBySide, decisions: Sequence[Decision]) -> Plan | None:
    """The cheapest plan after which none of them loses anything or has more to write.

    decisions: what each would do by itself. `None` if there is no such plan, if one of them has
    none to compare with, or if one waits for the consumer. What one leaves alone stays left alone.
    """
    if not all(map(_plain, decisions)):
        return None
    proofs = []
    tried: list[tuple[Step, ...]] = []
    for plan in decisions:
        if not isinstance(plan, Plan) or plan.steps in tried:
            continue
        tried.append(plan.steps)
        whole = _carried_on(several, plan.steps, decisions)
        proof = several.right_for_all(whole) if whole else None
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


def _carried_on(
    several: SideBySide, steps: Sequence[Step], own: Sequence[Decision]
) -> Sequence[Step]:
    """The steps with those that the others would write after them.

    None if they have no end, or if one leaves more shards alone than by itself.
    """
    for _ in range(PASSES):
        decisions = several.after(steps).still_to_do()
        if not all(map(_plain, decisions)):
            return ()
        pairs = zip(decisions, own, strict=True)
        if any(shards_left(decision) - shards_left(alone) for decision, alone in pairs):
            return ()
        more = next((d for d in decisions if isinstance(d, Plan)), None)
        if more is None:
            return steps
        steps = several.joined(steps, more.steps)
    return ()


def joined(
    steps: Iterable[Step], more: Iterable[Step], consumer: Consumer, lineage: Lineage
) -> list[Step]:
    """Both lists as one, each row written once, at its first write.

    What a step makes necessary in its own family belongs to it, where the consumer's store writes
    so much at once: a plan that stops between the two would leave a start worse than it was.
    """
    later = {write.key: write for write in writes_of(more)}
    result = []
    for step in steps:
        writes = [
            both(write, later.pop(write.key)) if write.key in later else write
            for write in step.writes
        ]
        result.append(rewritten(step, [w for w in writes if w is not None], consumer))
    result = [step for step in result if step.writes]
    for step in more:
        rest = rewritten(step, [w for w in step.writes if w.key in later], consumer)
        place = _of_its_family(result, rest, consumer, lineage) if rest.writes else None
        if place is not None:
            home = result[place]
            result[place] = rewritten(home, home.writes + rest.writes, consumer)
        elif rest.writes:
            result.append(rest)
    return result


def rewritten(step: Step, writes: Sequence[Write], consumer: Consumer) -> Step:
    """The step with these writes instead, and a title that names their rows."""
    title = step.title
    if writes and {w.key for w in writes} != keys_of([step]):
        title = consumer.title(writes) or title
    return replace(step, title=title, writes=tuple(writes))


def _of_its_family(
    steps: Sequence[Step], step: Step, consumer: Consumer, lineage: Lineage
) -> int | None:
    """The first of the steps that writes a row of its family, and has room for its writes."""
    if consumer.at_once == 1 or step.barrier:
        return None
    family = consumer.family(lineage, keys_of([step]))
    return next((
        place for place, one in enumerate(steps)
        if len(one.writes) + len(step.writes) <= consumer.at_once and not one.barrier
        and any(write.key in family for write in one.writes)
    ), None)


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
