"""First positions on the frontier that a sink proves, for a store that has lost its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from reshardctl.consumers.base import Candidate, Cannot
from reshardctl.model import Create, Step, TargetFrontier, ahead, writes_of
from reshardctl.planning.case import Case
from reshardctl.planning.decision import Decision, NoSafePlan, Plan, agree
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.one_candidate import SINK_STANDS_STILL
from reshardctl.planning.prices import acceptable, not_held, price, too_dear
from reshardctl.planning.starts import Starts
from reshardctl.planning.writes import not_live


def rebuilt(case: Case) -> Decision:
    """A plan for every candidate, or why there is none. The store is empty."""
    starts = Starts(case)
    decisions = [_for_candidate(starts, candidate) for candidate in case.candidates]
    return agree(case.consumer.spec.ambiguous_options, case.candidates, decisions)


def _for_candidate(starts: Starts, candidate: Candidate) -> Plan | NoSafePlan:
    """The best plan that can be written. No shard is left alone: without a position it is lost."""
    case, plans = starts.case, list[tuple[Plan, list[Effect]]]()
    cannot: Cannot | None = None
    for steps in _beginnings(case, starts.want, candidate):
        if isinstance(steps, Cannot):
            cannot = cannot or steps
            continue
        run = starts.judged(starts.checkpoint(ahead(steps)), candidate)
        bad = [effect for effect in run.effects if not acceptable(effect, case.tolerated)]
        if any(write.live for write in writes_of(steps)):
            steps = not_live(steps, SINK_STANDS_STILL)
        plan = Plan(
            tuple(steps), _nothing_before(case), (run.effects,), notes=run.simulation.notes,
            price=price(run.effects, {}),
        )
        plans.append((plan, bad))
    if not plans:
        assert cannot is not None, "a beginning is steps or a reason"
        return not_held(cannot, case.state.probes)
    best, bad = min(plans, key=_cost)
    bad = [effect for effect in bad if not acceptable(effect, case.limit)]
    return too_dear(bad) if bad else best


def _nothing_before(case: Case) -> tuple[tuple[Effect, ...], ...]:
    """The effects without a plan: an empty store has none to compare with."""
    return tuple(() for _ in case.candidates)


def _beginnings(
    case: Case, want: TargetFrontier, candidate: Candidate
) -> Iterator[list[Step] | Cannot]:
    """Steps for the whole frontier, and only for what the consumer would not reach by itself."""
    lineage, consumer, checkpoint = case.state.lineage, case.consumer, case.checkpoint()
    there = {image.key for image in case.images}
    whole = consumer.rebuild(lineage, checkpoint, want, candidate.app)
    if isinstance(whole, Cannot) or not _over(whole, there):
        yield whole
    yield consumer.encode(lineage, checkpoint, want, candidate.app, frozenset())


def _over(steps: Iterable[Step], there: Collection[str]) -> bool:
    """Whether a row would be created that exists already, as another kind or another's."""
    return any(
        isinstance(write.change, Create) and write.key in there
        for write in writes_of(steps)
    )


def _cost(choice: tuple[Plan, list[Effect]]) -> tuple[int, int, float]:
    """Sort key of a plan: what is not accepted, and what is re-read.

    Of two that cost the same the whole frontier is better: it assumes nothing that no store holds.
    """
    plan, bad = choice
    again = [e for run in plan.after for e in run if e.harm is Harm.REREAD]
    return len(bad), len(again), sum(e.seconds or 0.0 for e in again)
