"""From what is stored to a proven plan, or to the reason why there is none.

Every plan shown has been simulated through the very rows that it would write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.values import last_place
from reshardctl.consumers.base import Cannot, Incarnation
from reshardctl.errors import WrongStream
from reshardctl.model import (
    START,
    Cut,
    ShardId,
    Step,
    ahead,
    exactly,
    index_of,
    short,
    time_of,
)
from reshardctl.model.phrases import listed
from reshardctl.planning.as_given import stored_as_given
from reshardctl.planning.case import (
    Case,
    Judged,
    forgotten,
    judge,
    judged_as,
    loses_nothing,
    never_read,
    out_of_order,
    processed_frontier,
    withheld,
)
from reshardctl.planning.decision import (
    Ask,
    Decision,
    NoSafePlan,
    Nothing,
    Plan,
    Residual,
    agree,
    alike,
    shards_left,
)
from reshardctl.planning.effects import Effect, Harm, drained_unended, effects
from reshardctl.planning.joining import PASSES, SideBySide, cheapest, joined, rewritten
from reshardctl.planning.one_candidate import ROUNDS, narrowed
from reshardctl.planning.prices import acceptable, no_safe_plan, not_held
from reshardctl.planning.starts import Starts, policy_costs
from reshardctl.planning.within_scope import widened

__all__ = [
    "Ask", "Case", "Decision", "Judged", "NoSafePlan", "Nothing", "Plan", "Planner", "Residual",
    "bootstrap", "decide", "first_positions", "judge", "never_read", "processed_frontier",
]  # fmt: skip

CREATION_TIME = "CREATION-TIME"
"""What stands for a stream's creation time where the operator has to type it."""
NAMED = 5
"""Shards that a reason names before it counts the rest."""


def decide(case: Case, known: Planner | None = None) -> Decision:
    """Nothing, a proven plan, NoSafePlan, or the question that has to be answered first.

    After a plan the next one is empty, and no start delivers less than the same without it. Within
    a scope it writes nothing outside it but what it names in `added`. known: one that has looked at
    starts before, perhaps of this very case.
    """
    scope = case.scope
    decision = _whole(case, known) if scope is None else widened(case, scope, _whole)
    if case.recreated and isinstance(decision, Plan):
        return _forgetting(case, decision)
    return decision


def _whole(case: Case, known: Planner | None = None) -> Decision:
    """The decision on a case whose scope is not widened; a question if no plan is right for all."""
    if case.policy.names_shards and not case.policy.places:
        return Nothing()
    planner = known if known is not None and known.case == case else Planner(case)
    decision = planner.decision()
    if not isinstance(decision, Ask) or not decision.decisions:
        return decision
    answers = Answers([Planner(replace(case, candidates=[one])) for one in case.candidates])
    return _settled(case, answers, answers.still_to_do())


def _settled(case: Case, several: SideBySide, decisions: Sequence[Decision]) -> Decision:
    """What all decide, or the cheapest plan that is right for all, or the question."""
    plan = None if alike(decisions) else cheapest(several, decisions)
    return plan or agree(case.consumer.spec.ambiguous_options, case.candidates, decisions)


class Planner(Starts, frozen=True):
    """Decides for all candidates at once, whichever of them wrote the rows and whichever starts."""

    def after(self, steps: Sequence[Step]) -> Planner:
        """The same case after steps, as if they were written."""
        return Planner(replace(self.case, images=self.case.after(steps), bootstrap=False))

    def joined(self, steps: Sequence[Step], more: Sequence[Step]) -> list[Step]:
        """Both lists of steps as one."""
        return joined(steps, more, self.case.consumer, self.case.state.lineage)

    def decision(self) -> Decision:
        """A plan that keeps no candidate's start from reading what it would read without it."""
        now, rounds = self, 0
        while True:
            decision, rounds = now.continued(), rounds + 1
            kept = self._withheld(decision)
            if rounds == ROUNDS or kept.keys() <= now.case.kept.keys():
                break
            now = Planner(replace(self.case, kept={**now.case.kept, **kept}))
        if kept or not (now.case.kept and isinstance(decision, Plan)):
            return _withholds(kept) if kept else decision
        if all(map(loses_nothing, self.effects)) and not self._puts_in_order(decision):
            return Nothing(decision.residuals)  # a start reads what no plan may withhold
        proof = self.proof(decision.steps)  # its price, compared with the table as it is
        return replace(proof, residuals=decision.residuals) if proof else decision

    def _puts_in_order(self, plan: Plan) -> bool:
        """Whether a start reads a shard beside unread ancestors, and after the plan no longer."""
        return any(
            not out_of_order(now) <= out_of_order(then)
            for now, then in zip(self.effects, plan.after, strict=True)
        )

    def _withheld(self, decision: Decision) -> dict[ShardId, Cut]:
        """What a plan that skips nothing would keep a candidate's start from reading."""
        case = self.case
        told = case.recreated or case.line is not None
        if not isinstance(decision, Plan) or told or case.policy.skips:
            return {}
        then = self.checkpoint(ahead(decision.steps))
        kept: dict[ShardId, Cut] = {}
        for start in self.now:
            later = case.simulation(then, start.candidate)
            for shard, cut in withheld(self.processed, start.simulation, later).items():
                if shard in case.state.lineage:
                    kept[shard] = cut if kept.get(shard, cut) == cut else START
        return kept

    def continued(self) -> Decision:
        """One pass after the other, joined, until the next one is empty; NoSafePlan if none is.

        A shard that is left alone because its repair costs more than is accepted stays left alone,
        even if the plan makes its repair cheaper. A plan that waits for the consumer is returned as
        it is: what follows depends on what the consumer does.
        """
        first = self.one_pass()
        if not isinstance(first, Plan) or any(step.barrier for step in first.steps):
            return first
        whole: Plan = first
        left = shards_left(first)
        for _ in range(PASSES):
            then = self.after(whole.steps)
            try:
                more = then.one_pass()
            except WrongStream:
                return _of_nobody("another stream's", (
                    "give each stream's application a table, or a name, of its own, delete the "
                    "other stream's rows, and make a new plan"
                ))
            asks = isinstance(more, Ask) and more.options == ("recreated",)
            if asks or (self.case.policy.names_shards and self._loses_its_last_number(then.case)):
                return _of_nobody("older than it", "settle these first: reshardctl rule RSH207")
            if not isinstance(more, Plan):
                return whole
            further = self._without(left, more.steps)
            proof = self.proof(self.joined(whole.steps, further)) if further else None
            if proof is None:
                return whole if first.residuals else _no_end(more)
            whole = replace(proof, before=first.before, residuals=first.residuals)
        return _no_end(whole)

    def _loses_its_last_number(self, then: Case) -> bool:
        """Whether only numbers of an earlier stream are left `then`, and now there are others.

        Once given positions are stored, no question of a next plan tells so.
        """
        now, after = (case.incarnation(case.checkpoint()) for case in (self.case, then))
        return not self.case.recreated and after is Incarnation.RECREATED and after is not now

    def _without(self, left: set[ShardId], steps: Iterable[Step]) -> list[Step]:
        """The steps without the rows of shards that are left alone."""
        consumer = self.case.consumer
        shard_of = consumer.shard_of
        kept = (
            rewritten(step, [w for w in step.writes if shard_of(w.key) not in left], consumer)
            for step in steps
        )
        return [step for step in kept if step.writes]

    def one_pass(self) -> Decision:
        """A proven plan, though another may have to follow it."""
        case, checkpoint = self.case, self.case.checkpoint()
        if case.bootstrap and not case.policy.names_shards and case.consumer.empty(checkpoint):
            return bootstrap(case)
        if answer := self._of_another_stream(checkpoint):
            return answer
        if self._as_wanted(checkpoint):
            return Nothing()
        return _settled(case, self, [narrowed(self, judged) for judged in self.now])

    def still_to_do(self) -> list[Decision]:
        """What each candidate would write if it were the only one to start."""
        return [
            narrowed(self, judged) if any(map(self.case.calls_for_a_plan, judged.effects))
            else Nothing() for judged in self.now
        ]

    def _of_another_stream(self, checkpoint: Any) -> Ask | NoSafePlan | None:
        """The answer where the rows, or those to be written, are not this stream's."""
        case = self.case
        recreated = case.incarnation(checkpoint) is Incarnation.RECREATED and not case.recreated
        if recreated and not stored_as_given(case):
            return Ask(("recreated",), ((("recreated", CREATION_TIME),),))
        given = case.policy.places if case.policy.names_shards else {}
        if given and (wrong := case.foreign(checkpoint).keys() & given):
            return NoSafePlan(
                f"the positions of {listed(sorted(map(short, wrong)), NAMED)} are not this "
                "stream's, and are never written",
                (
                    "name the stream that they belong to, or the right store",
                    "if no application needs them, delete them, and plan again",
                ),
            )
        return None

    def _as_wanted(self, checkpoint: Any) -> bool:
        """Whether no start does what calls for a plan, and no row will do harm later."""
        case, runs = self.case, self.now
        if case.recreated or case.policy.skips:
            return False
        return not (
            any(case.calls_for_a_plan(effect) for run in runs for effect in run.effects)
            or any(map(case.selects, self._of_the_future(checkpoint)))
            or any(case.selects(s) for r in runs for s in drained_unended(case.state, r.simulation))
        )

    def _of_the_future(self, checkpoint: Any) -> Iterator[ShardId]:
        """The rows of shards that are not born yet: they do no harm at the next start but later."""
        lineage = self.case.state.lineage
        newest, foreign = lineage.newest_index(), self.case.foreign(checkpoint)
        for shard in self.case.consumer.positions(checkpoint):
            if shard in lineage or shard in foreign:
                continue
            if (index := index_of(shard)) is not None and index > newest:
                yield shard


class Answers(Struct, frozen=True):
    """The answers to a question, each with its planner: who starts has written the rows, too."""

    each: Sequence[Planner]

    @property
    def effects(self) -> tuple[tuple[Effect, ...], ...]:
        """What each start does on the rows as they are."""
        return tuple(run for planner in self.each for run in planner.effects)

    def after(self, steps: Sequence[Step]) -> Answers:
        """The same after steps, as if they were written."""
        return Answers([planner.after(steps) for planner in self.each])

    def joined(self, steps: Sequence[Step], more: Sequence[Step]) -> list[Step]:
        """Both lists of steps as one."""
        return self.each[0].joined(steps, more)

    def still_to_do(self) -> list[Decision]:
        """What each answer leads to."""
        decisions = [planner.decision() for planner in self.each]
        return [replace(d, before=self.effects) if isinstance(d, Plan) else d for d in decisions]

    def right_for_all(self, steps: Sequence[Step]) -> Plan | None:
        """These steps as a plan, `None` if they are wrong after one of the answers."""
        proofs = []
        for planner in self.each:
            proof = planner.right_for_all(steps)
            if proof is None:
                return None
            proofs.append(proof)
        return replace(
            proofs[0], before=self.effects, after=tuple(run for p in proofs for run in p.after),
            notes=tuple(dict.fromkeys(note for proof in proofs for note in proof.notes)),
            price=tuple(dict.fromkeys(effect for proof in proofs for effect in proof.price)),
        )


def bootstrap(case: Case) -> Decision:
    """First positions for a consumer that the operator declares new.

    Those of a candidate that are right for all, and read least beyond what is wanted; or the
    question which candidate it is.
    """
    lineage = case.state.lineage
    want = case.wanted(never_read(lineage))
    own, right = list[Decision](), list[Plan]()
    for number, candidate in enumerate(case.candidates):
        steps = case.consumer.bootstrap(lineage, want, candidate.app)
        if isinstance(steps, Cannot):
            own.append(not_held(steps, {}))
            continue
        plan, wrong = first_positions(case, steps)
        own.append(no_safe_plan(wrong[number][0]) if wrong[number] else plan)
        if not any(wrong):
            right.append(plan)
    if right:
        return min(right, key=lambda plan: len(plan.price))
    return agree(case.consumer.spec.ambiguous_options, case.candidates, own)


def first_positions(case: Case, steps: Sequence[Step]) -> tuple[Plan, list[list[Effect]]]:
    """First positions as a plan, and what is wrong with each candidate's start on them.

    The rows may hold some of them already.
    """
    empty = never_read(case.state.lineage)
    want = case.wanted(empty)
    checkpoint = case.checkpoint(case.after(steps))
    judged = [judged_as(case, checkpoint, c, want, empty) for c in case.candidates]
    wrong = [[e for e in j.effects if not acceptable(e, case.limit)] for j in judged]
    passed = {shard: exactly(last_place(cut)) for shard, cut in want.items()}
    beyond = [
        tuple(e for e in effects(case.state, want, passed, j.simulation) if e.harm is Harm.REREAD)
        for j in judged
    ]  # read although the policy passes it over
    return Plan(
        tuple(steps), tuple(() for _ in judged),
        tuple(j.effects + more for j, more in zip(judged, beyond, strict=True)),
        costs=policy_costs(case, want, empty, judged[0].simulation),
        price=tuple(dict.fromkeys(effect for more in beyond for effect in more)),
    ), wrong


def _forgetting(case: Case, plan: Plan) -> Plan:
    """The plan with what the operator's word on a recreated stream gives up.

    A position without a number counts where the plan changes it.
    """
    checkpoint, consumer = case.checkpoint(), case.consumer
    stored, origins = consumer.texts(checkpoint), case.origins(checkpoint)
    then = consumer.texts(case.checkpoint(case.after(plan.steps)))
    moved = {s for s, text in stored.items() if origins[s] is None and then.get(s) != text}
    anew = forgotten(case, checkpoint) | moved
    gone = [
        text for shard, text in stored.items()
        if case.selects(shard) and (shard in anew or shard not in case.state.lineage)
    ]
    written = [time for text in gone if (time := time_of(text)) is not None]
    return replace(plan, forgets=len(gone), newest_forgotten=max(written, default=None))


def _withholds(kept: Iterable[ShardId]) -> NoSafePlan:
    return NoSafePlan(
        f"the repair keeps the next start from reading {', '.join(sorted(kept))}, of which "
        "the table cannot tell whether it was read to its end",
        ("ask the sink whether it was: reshardctl audit",),
    )


def _of_nobody(theirs: str, way_out: str) -> NoSafePlan:
    return NoSafePlan(
        "after the repair no number would show any more that the rows are this stream's, for the "
        f"numbers that are left are {theirs}", (way_out,),
    )


def _no_end(more: Plan) -> NoSafePlan:
    titles = listed(more.steps, 3, lambda step: step.title)
    return NoSafePlan(
        f"whatever is written, there is more to do afterwards ({titles})",
        ("see the findings for what helps",),
    )
