"""The next start of every candidate: against what is wanted, as the rows are, and after steps.

From the comparison come the price of the steps, and the proof that no start is worse after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.base import Candidate
from reshardctl.model import DONE, Frontier, Image, Simulation, Step, TargetFrontier, WillRead
from reshardctl.planning.as_given import unsaid
from reshardctl.planning.case import (
    Case,
    Judged,
    delivers_no_less,
    judge,
    judged_as,
    processed_frontier,
)
from reshardctl.planning.decision import Plan
from reshardctl.planning.effects import Effect, Harm, effects
from reshardctl.planning.policy import LOSSLESS
from reshardctl.planning.prices import ByPlace, acceptable, by_place, price, so_already


class Starts(Struct, frozen=True, dict=True):
    """The starts of one case. What is asked of the rows as they are is answered once.

    untouched: the rows without what a plan that is half done has written; `None`: as they are.
    """

    case: Case
    untouched: Sequence[Image] | None = None

    @cached_property
    def processed(self) -> Frontier:
        """What is processed whichever candidate wrote the rows."""
        return processed_frontier(self.case, self.untouched)

    @cached_property
    def want(self) -> TargetFrontier:
        """The frontier that the policy asks for."""
        return self.case.wanted(self.processed)

    @cached_property
    def now(self) -> list[Judged]:
        """Every candidate's start on the rows as they are."""
        return judge(self.case, self.want, self.processed)

    @property
    def effects(self) -> tuple[tuple[Effect, ...], ...]:
        """What these starts do, as a plan's `before`."""
        return tuple(judged.effects for judged in self.now)

    def checkpoint(self, steps: Sequence[Step]) -> Any:
        """The rows after steps, as the consumer parses them."""
        return self.case.checkpoint(self.case.after(steps))

    def judged(self, checkpoint: Any, candidate: Candidate) -> Judged:
        """A candidate's start on other rows."""
        return judged_as(self.case, checkpoint, candidate, self.want, self.processed)

    def known(self, judged: Judged) -> tuple[Effect, ...]:
        """What is no part of a repair's price: what the start does without it, or would do alive.

        A consumer that crashes skips nothing; what it would skip is part of the price.
        """
        run = judged.simulation
        if run.crash is None:
            return judged.effects
        alive = effects(self.case.state, self.want, self.processed, replace(run, crash=None))
        harms = (Harm.DISORDERED, Harm.STALLED)
        return judged.effects + tuple(effect for effect in alive if effect.harm in harms)

    def no_worse(self, effect: Effect, known: ByPlace) -> bool:
        """Whether an effect after a plan is accepted, or was there before."""
        return acceptable(effect, self.case.limit) or so_already(effect, known)

    def policy_costs(self, run: Simulation) -> tuple[Effect, ...]:
        """What the policy itself skips in a start."""
        return policy_costs(self.case, self.want, self.processed, run)

    @cached_property
    def _places(self) -> list[ByPlace]:
        return [by_place(self.known(judged)) for judged in self.now]

    def priced(self, steps: Sequence[Step]) -> Plan:
        """These steps as a plan with what they cost; whether they are right the caller knows."""
        checkpoint = self.checkpoint(steps)
        runs = [self.judged(checkpoint, candidate) for candidate in self.case.candidates]
        costs = self.policy_costs(runs[0].simulation)
        priced = zip(runs, self._places, strict=True)
        paid = [effect for run, places in priced for effect in price(run.effects, places)]
        paid += unsaid(self.case, costs, self.now[0].effects)
        notes = tuple(dict.fromkeys(note for run in runs for note in run.simulation.notes))
        after = tuple(run.effects for run in runs)
        return Plan(
            tuple(steps), self.effects, after, (), costs, notes, tuple(dict.fromkeys(paid))
        )

    def proof(self, steps: Sequence[Step]) -> Plan | None:
        """These steps as a plan, `None` if a start after them is worse than one without them."""
        plan = self.priced(steps)
        after = zip(plan.after, self._places, strict=True)
        no_worse = all(self.no_worse(effect, places) for run, places in after for effect in run)
        return plan if no_worse else None

    def right_for_all(self, steps: Sequence[Step]) -> Plan | None:
        """These steps as a plan, `None` if some candidate's start is worse or delivers less."""
        checkpoint = self.checkpoint(steps)
        for start in () if self.case.policy.skips else self.now:
            run = self.case.simulation(checkpoint, start.candidate)
            if not delivers_no_less(self.processed, start.simulation, run):
                return None
        return self.proof(steps)


def policy_costs(
    case: Case, want: TargetFrontier, processed: Frontier, run: Simulation
) -> tuple[Effect, ...]:
    """What the policy skips of the shards that it may write, compared with skipping nothing.

    That is records passed over, and whole shards that are taken as over and never read. A position
    skips what lies before it whenever its shard is read, so nothing is waited for here: the repair
    of an ancestor that holds the shard back skips nothing more. What an earlier start may have
    passed over is no skip of the policy.
    """
    if not case.policy.skips:
        return ()
    strict = LOSSLESS.frontier(case.state.lineage, processed)
    at_once = {
        shard: replace(fate, after=frozenset()) if isinstance(fate, WillRead) else fate
        for shard, fate in run.fates.items()
    }
    costs = effects(case.state, strict, processed, replace(run, fates=at_once))
    if case.policy.names_shards:
        costs = [e for e in costs if e.shard in case.policy.places]
    costs = [e for e in costs if e.shard is None or case.selects(e.shard)]
    return tuple(
        replace(e, harm=Harm.SKIPPED) for e in costs
        if (e.harm is Harm.SKIPPED and not e.past)
        or (e.harm is Harm.STALLED and e.shard is not None and want.get(e.shard) == DONE)
    )
