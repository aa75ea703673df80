"""The plan for one candidate, narrowed: what would be worse than accepted is left as it is.

So are rows that are not ours to write, and shards that cannot be mended beside others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from reshardctl.consumers.base import MANY, Candidate, Cannot
from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.model import START, Cause, ShardId, Step, ahead, writes_of
from reshardctl.planning.as_given import not_as_given, not_given, unsaid
from reshardctl.planning.case import BY_HAND, Case, Judged
from reshardctl.planning.decision import Decision, Nothing, Plan, Residual
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.prices import (
    ByPlace,
    acceptable,
    by_place,
    flag_of_effect,
    no_safe_plan,
    not_held,
    price,
    too_dear,
)
from reshardctl.planning.starts import Starts
from reshardctl.planning.writes import not_live

SINK_STANDS_STILL = "while it runs its sink is behind it: what is on its way there looks missing"
ROUNDS = 6
"""How often a plan is narrowed (shards left alone) before planning gives up."""

_NEVER: Mapping[Origin | None, str] = {
    None:
        "it holds no number, and other rows are another stream's: nothing shows whose it is. If it "
        f"is this stream's, {BY_HAND}",
    Origin.ELSEWHERE: "its position is another stream's, and is never written",
    Origin.EARLIER:
        "its position is older than the stream: of another stream, or of an earlier one of this "
        "name. If the stream was deleted and made again, --recreated with its creation time "
        "repairs it",
}


def narrowed(starts: Starts, judged: Judged) -> Decision:
    """Encodes for one candidate, simulates, and leaves alone what is worse than accepted."""
    case = starts.case
    leave = _never_written(case, judged)
    before = starts.known(judged)
    places = by_place(before)
    cannot: Cannot | None = None
    for _ in range(ROUNDS):
        steps, blocked = _encode(starts, judged.candidate, leave), dict[ShardId, Residual]()
        if isinstance(steps, Cannot):
            cannot, blocked = cannot or steps, _apart(case, steps, places)
            if not blocked:
                return not_held(cannot, case.state.probes)
            steps = list(steps.others)
        left = leave | blocked
        if not steps:
            break
        # steps after a barrier are proven later
        run = starts.judged(starts.checkpoint(ahead(steps)), judged.candidate)
        bad = [e for e in run.effects if not starts.no_worse(e, places)]
        costs = starts.policy_costs(run.simulation)
        skipped = unsaid(case, costs, before)
        if case.accept is not None:
            bad += [e for e in skipped if not acceptable(e, case.accept)]
        crashes = [] if bad else _crashes(case, run)
        if not bad and not crashes:
            return not_as_given(case, left, run) or Plan(
                tuple(steps), starts.effects, (run.effects,), tuple(left.values()), costs,
                run.simulation.notes, (*price(run.effects, places), *skipped),
            )
        written = dict.fromkeys(case.consumer.shard_of(write.key) for write in writes_of(steps))
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
        if not acceptable(e, case.tolerated) and case.concerns(e) and not _unavoided(e)
    ]
    return no_safe_plan(stuck[0]) if stuck else Nothing()


def _never_written(case: Case, judged: Judged) -> dict[ShardId, Residual]:
    """The shards that stay as they are because their rows are another stream's."""
    foreign = case.foreign(case.checkpoint())
    return {
        shard: Residual(shard, effect, "", _NEVER[foreign[shard]])
        for effect in judged.effects if foreign and case.calls_for_a_plan(effect)
        for shard in (effect.shard, *effect.by) if shard is not None and shard in foreign
    }


def _encode(
    starts: Starts, candidate: Candidate, leave: Mapping[ShardId, Residual]
) -> list[Step] | Cannot:
    case, want = starts.case, starts.want
    checkpoint = case.checkpoint()
    # A row cannot hold a start by time, so such a shard is re-read as a whole.
    timed = {s: START for s in case.kept if want[s].by_time}
    want = {**want, **timed} if timed else want
    left = leave.keys() | not_given(case, want, checkpoint) | case.outside(checkpoint)
    left |= case.foreign(checkpoint).keys()
    steps = case.consumer.encode(case.state.lineage, checkpoint, want, candidate.app, left)
    if isinstance(steps, Cannot):
        return steps
    if case.recreated:
        return not_live(steps, "its positions are of an earlier stream")
    return steps if case.line is None else not_live(steps, SINK_STANDS_STILL)


def _apart(case: Case, cannot: Cannot, before: ByPlace) -> dict[ShardId, Residual]:
    """The shards that no row can mend, while the others are mended.

    None if one of them is no shard that is harmed as it is, or under a policy that skips on
    purpose: half of what was asked for is not what was asked for.
    """
    if case.policy.skips or not all(map(before.get, cannot.apart)):
        return {}
    return {
        shard: Residual(shard, before[shard][0], "", why.why, why.ways_out)
        for shard, why in cannot.apart.items()
    }


def _crashes(case: Case, run: Judged) -> list[Effect]:
    """The crashes that remain: a plan that leaves one is no help, whatever else it repairs."""
    return [e for e in run.effects if e.harm is Harm.CRASHES and not acceptable(e, case.limit)]


def _concerned(effect: Effect, written: Collection[ShardId]) -> Collection[ShardId]:
    """The written shards that a bad effect comes from: its own, else all that are written."""
    if effect.shard is not None and (effect.shard in written or MANY in written):
        return [effect.shard]
    return _near(effect, written) or written


def _near(effect: Effect, written: Collection[ShardId]) -> list[ShardId]:
    """The written shards that an effect names as its origin."""
    by = set(effect.by)
    return [] if by.isdisjoint(written) else [shard for shard in written if shard in by]


def _unavoided(effect: Effect) -> bool:
    """Whether it is no finding where no position could change it.

    Disorder of a consumer that keeps no order, and a re-read that there may not even be.
    """
    if effect.harm is Harm.REREAD:
        return not effect.certain and effect.cause is not Cause.FOREIGN_NUMBER
    return effect.harm is Harm.DISORDERED
