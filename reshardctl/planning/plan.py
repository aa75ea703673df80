"""From what is stored to a proven plan, or to the reason why there is none.

Every plan shown has been simulated through the very rows that it would write.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from reshardctl.consumers.base import MANY, Candidate, Cannot, Incarnation
from reshardctl.model import (
    DONE,
    START,
    Cut,
    Frontier,
    ShardId,
    Simulation,
    Span,
    Step,
    TargetFrontier,
    ahead,
    index_of,
    short,
    writes_of,
)
from reshardctl.model.phrases import listed
from reshardctl.planning.agreement import agree, alike
from reshardctl.planning.as_given import not_as_given, not_given, stored_as_given, unsaid
from reshardctl.planning.case import (
    Case,
    Judged,
    as_it_is,
    delivers_no_less,
    judge,
    judged_as,
    loses_nothing,
    processed_frontier,
    withheld,
)
from reshardctl.planning.decision import Ask, Decision, NoSafePlan, Nothing, Plan, Residual
from reshardctl.planning.effects import Effect, Harm, drained_unended, effects
from reshardctl.planning.joining import Planning, Trial, fixpoint, joint
from reshardctl.planning.left_as_it_is import apart, forgetting, never_written, unavoided
from reshardctl.planning.policy import LOSSLESS
from reshardctl.planning.prices import (
    ByPlace,
    acceptable,
    by_place,
    flag_of_effect,
    no_safe_plan,
    not_held,
    price,
    so_already,
    too_dear,
    worthwhile,
)
from reshardctl.planning.within_scope import within
from reshardctl.planning.writes import not_live

__all__ = [
    "SINK_STANDS_STILL", "Ask", "Case", "Decision", "Judged", "NoSafePlan", "Nothing", "Plan",
    "Residual", "acceptable", "bootstrap", "decide", "judge", "judged_as", "price", "priced",
    "processed_frontier", "too_dear", "worthwhile",
]  # fmt: skip

CREATION_TIME = "CREATION-TIME"
"""What stands for a stream's creation time where the operator has to type it."""
SINK_STANDS_STILL = "while it runs its sink is behind it: what is on its way there looks missing"
NAMED = 5
"""Shards that a reason names before it counts the rest."""
ROUNDS = 6
"""How often a plan is narrowed (shards left alone) before planning gives up."""


def decide(case: Case) -> Decision:
    """Nothing, a proven plan, NoSafePlan, or the question that has to be answered first.

    After a plan the next one is empty, and no start delivers less than the same without it. Within
    a scope it writes nothing outside it but what it names in `added`.
    """
    decision = _whole(case) if case.scope is None else within(case, case.scope, _whole)
    if case.recreated and isinstance(decision, Plan):
        return forgetting(case, decision)
    return decision


def _whole(case: Case) -> Decision:
    if case.policy.names_shards and not case.policy.places:
        return Nothing()
    decision = _for_all_candidates(case)
    return _for_every_answer(case) if isinstance(decision, Ask) and decision.decisions else decision


def _for_every_answer(case: Case) -> Decision:
    """What every whole answer leads to, or one plan that is right for all; else the question.

    The candidates that start also wrote the rows.
    """
    ones = [replace(case, candidates=[candidate]) for candidate in case.candidates]
    alone = [_for_all_candidates(answered) for answered in ones]
    before = tuple(judged.effects for answered in ones for judged in as_it_is(answered))
    alone = [replace(d, before=before) if isinstance(d, Plan) else d for d in alone]
    trial = Trial(
        case.images,
        lambda images: [
            _for_all_candidates(replace(c, images=images, bootstrap=False)) for c in ones
        ],
        lambda steps: _after_each_answer(ones, steps),
    )
    if not alike(alone) and (plan := joint(trial, alone)) is not None:
        return replace(plan, before=before)
    return agree(case.consumer.spec.ambiguous_options, case.candidates, alone)


def _after_each_answer(cases: Sequence[Case], steps: Sequence[Step]) -> Plan | None:
    """These steps as a plan, `None` if they are wrong after one of the answers."""
    proofs = []
    for case in cases:
        proof = _right_for_all(case, processed_frontier(case), as_it_is(case), steps)
        if proof is None:
            return None
        proofs.append(proof)
    return replace(
        proofs[0], after=tuple(run for proof in proofs for run in proof.after),
        notes=tuple(dict.fromkeys(note for proof in proofs for note in proof.notes)),
        price=tuple(dict.fromkeys(effect for proof in proofs for effect in proof.price)),
    )


def _for_all_candidates(case: Case) -> Decision:
    """Decides for all candidates at once, whichever of them wrote the rows and whichever starts."""
    now, rounds = case, 0
    while True:
        decision, rounds = _complete(now), rounds + 1
        kept = _withheld(case, decision)
        if rounds == ROUNDS or kept.keys() <= now.kept.keys():
            break
        now = replace(now, kept={**now.kept, **kept})
    if kept or not (now.kept and isinstance(decision, Plan)):
        return _withholds(kept) if kept else decision
    before = tuple(trial.effects for trial in as_it_is(case))
    if all(map(loses_nothing, before)):  # and reads what no plan may withhold
        return Nothing(decision.residuals)
    proof = _proven(case, decision.steps)  # its price, compared with the table as it is
    return replace(proof, before=before, residuals=decision.residuals) if proof else decision


def _withheld(case: Case, decision: Decision) -> dict[ShardId, Cut]:
    """What a plan that skips nothing would keep a candidate's start from reading."""
    told = case.recreated or case.line is not None
    if not isinstance(decision, Plan) or told or case.policy.skips:
        return {}
    processed, checkpoint = processed_frontier(case), case.checkpoint()
    then = case.checkpoint(case.after(ahead(decision.steps)))
    kept: dict[ShardId, Cut] = {}
    for candidate in case.candidates:
        before, later = (case.simulation(rows, candidate) for rows in (checkpoint, then))
        for shard, cut in withheld(processed, before, later).items():
            if shard in case.state.lineage:
                kept[shard] = cut if kept.get(shard, cut) == cut else START
    return kept


def _withholds(kept: Iterable[ShardId]) -> NoSafePlan:
    return NoSafePlan(
        f"the repair keeps the next start from reading {', '.join(sorted(kept))}, of which "
        "the table cannot tell whether it was read to its end",
        ("ask the sink whether it was: reshardctl audit",),
    )


def _complete(case: Case) -> Decision:
    """Decides as `decide` does, without comparing what starts without a plan deliver."""
    decision = _decided(case)
    if not isinstance(decision, Plan):
        return decision
    return fixpoint(
        Planning(
            case.after,
            lambda images: _decided(replace(case, images=images, bootstrap=False)),
            case.consumer.shard_of,
            lambda steps: _proven(case, steps),
        ),
        decision,
    )


def _proven(case: Case, steps: Sequence[Step]) -> Plan | None:
    """These steps as a plan, `None` if a start after them is worse than one without them."""
    plan, no_worse = _priced(case, steps)
    return replace(plan, before=()) if no_worse else None


def priced(case: Case, steps: Sequence[Step]) -> Plan:
    """These steps as a plan with what they cost; whether they are right the caller knows."""
    return _priced(case, steps)[0]


def _priced(case: Case, steps: Sequence[Step]) -> tuple[Plan, bool]:
    """These steps as a plan, and whether no start after them is worse than one without them."""
    processed = processed_frontier(case)
    want = case.wanted(processed)
    checkpoint = case.checkpoint(case.after(steps))
    runs = [judged_as(case, checkpoint, c, want, processed) for c in case.candidates]
    paid: list[Effect] = []
    no_worse = True
    now = judge(case, want, processed)
    for before, run in zip(now, runs, strict=True):
        known = before.effects + _without_crash(case, want, processed, before)
        places = by_place(known)
        no_worse = no_worse and all(_no_worse(case, effect, places) for effect in run.effects)
        paid += price(run.effects, places)
    costs = _policy_costs(case, want, processed, runs[0].simulation)
    paid += unsaid(case, costs, now[0].effects)
    notes = tuple(dict.fromkeys(note for run in runs for note in run.simulation.notes))
    befores, afters = (tuple(each.effects for each in judged) for judged in (now, runs))
    paid_once = tuple(dict.fromkeys(paid))
    return Plan(tuple(steps), befores, afters, (), costs, notes, paid_once), no_worse


def _decided(case: Case) -> Decision:
    """One pass: a proven plan, though another may have to follow it."""
    lineage = case.state.lineage
    checkpoint = case.checkpoint()
    if case.bootstrap and not case.policy.names_shards and case.consumer.empty(checkpoint):
        return bootstrap(case)
    earlier = Incarnation.RECREATED
    incarnation = case.consumer.incarnation(lineage, checkpoint)
    if incarnation is earlier and not case.recreated and not stored_as_given(case):
        return Ask(("recreated",), ((("recreated", CREATION_TIME),),))
    if case.policy.names_shards and (wrong := case.foreign(checkpoint).keys() & case.policy.places):
        return NoSafePlan(
            f"the positions of {listed(sorted(map(short, wrong)), NAMED)} are not this stream's, "
            "and are never written",
            ("name the stream that they belong to, or the right store",),
        )
    processed = processed_frontier(case)
    want = case.wanted(processed)
    judged = judge(case, want, processed)
    if not case.recreated and not case.policy.skips and not any(
        case.calls_for_a_plan(e) for j in judged for e in j.effects
    ) and not _wants_tidying(case) and not any(
        _in_scope(case, drained_unended(case.state, j.simulation)) for j in judged
    ):
        return Nothing()
    decisions = [_for_candidate(case, want, processed, judged, j) for j in judged]
    trial = Trial(
        case.images,
        lambda images: _decisions(replace(case, images=images)),
        lambda steps: _right_for_all(case, processed, judged, steps),
    )
    if not alike(decisions) and (plan := joint(trial, decisions)) is not None:
        return replace(plan, before=tuple(j.effects for j in judged))
    return agree(case.consumer.spec.ambiguous_options, case.candidates, decisions)


def _right_for_all(
    case: Case, processed: Frontier, judged: Sequence[Judged], steps: Sequence[Step]
) -> Plan | None:
    """These steps as a plan, `None` if some candidate's start is worse or delivers less."""
    checkpoint = case.checkpoint(case.after(steps))
    for start in () if case.policy.skips else judged:
        run = case.simulation(checkpoint, start.candidate)
        if not delivers_no_less(processed, start.simulation, run):
            return None
    return _proven(case, steps)


def _decisions(case: Case) -> list[Decision]:
    """One decision per candidate, as if it were the only one; all may have written the rows."""
    processed = processed_frontier(case)
    want = case.wanted(processed)
    judged = judge(case, want, processed)
    return [
        _for_candidate(case, want, processed, judged, j)
        if any(case.calls_for_a_plan(e) for e in j.effects) else Nothing()
        for j in judged
    ]


def _wants_tidying(case: Case) -> bool:
    """Whether rows do harm later, though not at the next start: those of future shards."""
    lineage = case.state.lineage
    newest = lineage.newest_index()
    checkpoint = case.checkpoint()
    foreign = case.foreign(checkpoint)
    return _in_scope(case, (
        shard for shard in case.consumer.positions(checkpoint) if shard not in foreign
        and (i := index_of(shard)) is not None and i > newest and shard not in lineage
    ))


def _in_scope(case: Case, shards: Iterable[ShardId]) -> bool:
    return any(case.scope is None or shard in case.scope.shards for shard in shards)


def _for_candidate(
    case: Case, want: TargetFrontier, processed: Frontier, all_judged: list[Judged], judged: Judged
) -> Decision:
    """Encodes for one candidate, simulates, and leaves alone what is worse than accepted."""
    leave = never_written(case, judged)
    before = judged.effects + _without_crash(case, want, processed, judged)
    places = by_place(before)
    cannot: Cannot | None = None
    for _ in range(ROUNDS):
        steps, blocked = _encode(case, want, judged.candidate, leave), dict[ShardId, Residual]()
        if isinstance(steps, Cannot):
            cannot, blocked = cannot or steps, apart(case, steps, places)
            if not blocked:
                return not_held(cannot, case.state.probes)
            steps = list(steps.others)
        left = leave | blocked
        if not steps:
            break
        rows = case.after(ahead(steps))  # steps after a barrier are proven later
        run = judged_as(case, case.checkpoint(rows), judged.candidate, want, processed)
        bad = [e for e in run.effects if not _no_worse(case, e, places)]
        costs = _policy_costs(case, want, processed, run.simulation)
        skipped = unsaid(case, costs, before)
        if case.accept is not None:
            bad += [e for e in skipped if not acceptable(e, case.accept)]
        crashes = [] if bad else _crashes(case, run)
        if not bad and not crashes:
            return not_as_given(case, left, run) or Plan(
                tuple(steps), tuple(j.effects for j in all_judged), (run.effects,),
                tuple(left.values()), costs, run.simulation.notes,
                (*price(run.effects, places), *skipped),
            )
        written = _written(case, steps)
        fresh = {s: e for e in bad for s in _concerned(e, written) if s not in left}
        fresh |= {s: e for e in crashes for s in _near(e, written)}
        if not fresh:
            return too_dear([r.costs for r in leave.values() if r.flag] or bad or crashes)
        leave |= {s: Residual(s, e, flag_of_effect(e)) for s, e in fresh.items()}
    if cannot is not None:
        return not_held(cannot, case.state.probes)
    if leave:
        return Nothing(tuple(leave.values()))
    if case.policy.names_shards:
        return not_as_given(case, leave, judged) or Nothing()
    stuck = [
        e for e in judged.effects
        if not acceptable(e, case.tolerated) and case.concerns(e) and not unavoided(e)
    ]
    return no_safe_plan(stuck[0]) if stuck else Nothing()


def _without_crash(
    case: Case, want: TargetFrontier, processed: Frontier, judged: Judged
) -> tuple[Effect, ...]:
    """Disorder and stalls that the consumer would have without its crash.

    They are not part of the repair's price; what it would have skipped is, as it skips nothing
    while it crashes.
    """
    if judged.simulation.crash is None:
        return ()
    alive = effects(case.state, want, processed, replace(judged.simulation, crash=None))
    return tuple(e for e in alive if e.harm in (Harm.DISORDERED, Harm.STALLED))


def _crashes(case: Case, run: Judged) -> list[Effect]:
    """The crashes that remain: a plan that leaves one is no help, whatever else it repairs."""
    return [e for e in run.effects if e.harm is Harm.CRASHES and not acceptable(e, case.limit)]


def _encode(
    case: Case, want: TargetFrontier, candidate: Candidate, leave: Mapping[ShardId, Residual]
) -> list[Step] | Cannot:
    checkpoint = case.checkpoint()
    lineage = case.state.lineage
    # A row cannot hold a start by time, so such a shard is re-read as a whole.
    timed = {s: START for s in case.kept if want[s].by_time}
    want = {**want, **timed} if timed else want
    left = leave.keys() | not_given(case, want, checkpoint) | case.outside(checkpoint)
    left |= case.foreign(checkpoint).keys()
    steps = case.consumer.encode(lineage, checkpoint, want, candidate.app, left)
    if isinstance(steps, Cannot):
        return steps
    if case.recreated:
        return not_live(steps, "its positions are of an earlier stream")
    return steps if case.line is None else not_live(steps, SINK_STANDS_STILL)


def _concerned(effect: Effect, written: Collection[ShardId]) -> Collection[ShardId]:
    """The written shards that a bad effect comes from: its own, else all that are written."""
    if effect.shard is not None and (effect.shard in written or MANY in written):
        return [effect.shard]
    return _near(effect, written) or written


def _near(effect: Effect, written: Collection[ShardId]) -> list[ShardId]:
    """The written shards that an effect names as its origin."""
    by = set(effect.by)
    return [] if by.isdisjoint(written) else [shard for shard in written if shard in by]


def _written(case: Case, steps: Iterable[Step]) -> Collection[ShardId]:
    """The shards that are written, in order."""
    return dict.fromkeys(case.consumer.shard_of(write.key) for write in writes_of(steps))


def _no_worse(case: Case, effect: Effect, before: ByPlace) -> bool:
    return acceptable(effect, case.limit) or so_already(effect, before)


def _policy_costs(
    case: Case, want: TargetFrontier, processed: Frontier, run: Simulation
) -> tuple[Effect, ...]:
    """What the policy skips, compared with skipping nothing.

    That is records passed over, and whole shards that are taken as over and never read.
    """
    if not case.policy.skips:
        return ()
    strict = LOSSLESS.frontier(case.state.lineage, processed)
    costs = effects(case.state, strict, processed, run)
    if case.policy.names_shards:
        costs = [e for e in costs if e.shard in case.policy.places]
    return tuple(
        replace(e, harm=Harm.SKIPPED) for e in costs
        if e.harm is Harm.SKIPPED
        or (e.harm is Harm.STALLED and e.shard is not None and want.get(e.shard) == DONE)
    )


def bootstrap(case: Case) -> Plan:
    """First positions for a consumer that the operator declares new."""
    lineage = case.state.lineage
    empty: Frontier = {shard: Span(START, START) for shard in lineage}
    want = case.wanted(empty)
    app = case.candidates[0].app
    steps = case.consumer.bootstrap(lineage, want, app)
    rows = case.after(steps)
    checkpoint = case.checkpoint(rows)
    judged = [judged_as(case, checkpoint, c, want, empty) for c in case.candidates]
    return Plan(
        tuple(steps), tuple(() for _ in judged), tuple(j.effects for j in judged),
        costs=_policy_costs(case, want, empty, judged[0].simulation),
    )
