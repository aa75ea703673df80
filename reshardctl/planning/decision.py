"""The decisions about a consumer as values, and how those of several candidates become one.

Where release or options are unknown, all candidates agree, or the decision is a question. What a
plan writes beyond the selected shards (`Scope`) is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.consumers.base import Candidate
from reshardctl.model import ShardId, Step, writes_of
from reshardctl.planning.effects import Effect


class Scope(Struct, frozen=True):
    """Shards that a plan may write.

    whole: whether an effect on the whole consumer, as a crash is, concerns this part too.
    """

    shards: frozenset[ShardId]
    whole: bool = True

    @property
    def empty(self) -> bool:
        """Whether nothing is selected."""
        return not self.shards and not self.whole

    def concerns(self, effect: Effect) -> bool:
        """Whether the effect is one of these shards, or comes from one of them."""
        if effect.shard is None and self.whole:
            return True
        return effect.shard in self.shards or not self.shards.isdisjoint(effect.by)


class Added(Struct, frozen=True):
    """A shard that a plan writes although it was not selected, with the reason."""

    shard: ShardId
    why: str


class Residual(Struct, frozen=True):
    """A shard left alone because its repair costs more than is accepted, is not known, or not ours.

    costs: of the repair; if `why` says that there is none, of the start without it. flag: what
    accepts the cost, "" if nothing does: a stall cannot be accepted.
    """

    shard: ShardId
    costs: Effect
    flag: str
    why: str = ""
    ways_out: tuple[str, ...] = ()


class Nothing(Struct, frozen=True):
    """The next start already does what the policy wants, or no write that we may make helps."""

    residuals: tuple[Residual, ...] = ()


class Plan(Struct, frozen=True):
    """Steps with their proof. `before`, `after`: one entry per candidate, in the same order."""

    steps: tuple[Step, ...]
    before: tuple[tuple[Effect, ...], ...]
    after: tuple[tuple[Effect, ...], ...]
    residuals: tuple[Residual, ...] = ()
    costs: tuple[Effect, ...] = ()
    """What the policy itself skips, compared with skipping nothing."""
    notes: tuple[str, ...] = ()
    """Remarks on the starts after the plan, as on those before."""
    price: tuple[Effect, ...] = ()
    """Costs of the starts after the plan that those before do not have; consent is asked for
    them."""
    added: tuple[Added, ...] = ()
    """Shards written beyond those that were selected."""
    forgets: int = 0
    """Stored positions that the operator's word on a recreated stream gives up."""
    newest_forgotten: float | None = None
    """When the newest record among them was written, Unix seconds; `None` without a number."""


class NoSafePlan(Struct, frozen=True):
    """There is no frontier that the consumer can hold and the policy accepts.

    needs: the shards that can be mended together, if it is only that some of them were not
    selected; empty if the reason is another.
    """

    why: str
    ways_out: tuple[str, ...]
    needs: tuple[ShardId, ...] = ()


Answer = tuple[tuple[str, str], ...]
"""Options with the values given for them."""


class Ask(Struct, frozen=True):
    """Candidates need different plans; one of `answers` decides, each naming values of `options`.

    decisions: for each answer, what its candidates come to; empty if the question is of another
    kind. defaults: the values that the library takes if nothing is set, where it has one.
    """

    options: tuple[str, ...]
    answers: tuple[Answer, ...]
    decisions: tuple[tuple[Decision, ...], ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The options, in words."""
        return " and ".join(self.options)

    @property
    def needs(self) -> str:
        """What has to be done first, in words."""
        return f"{self.named} {'have' if len(self.options) > 1 else 'has'} to be known"


Decision = Nothing | Plan | NoSafePlan | Ask


def shards_left(decision: Decision) -> set[ShardId]:
    """The shards that the decision leaves alone because of their price."""
    if isinstance(decision, Plan | Nothing):
        return {residual.shard for residual in decision.residuals}
    return set()


def nothing_left(decision: Decision, *, errors: bool, asked_more: bool = False) -> bool:
    """Whether a `fix` with this decision has left nothing to repair: no shard, and no error.

    If no frontier can be held and only warnings say so, neither `inspect` nor `fix` fails.
    asked_more: a policy beyond skipping nothing was asked for, and cannot be met.
    """
    match decision:
        case Nothing(residuals):
            return not residuals and not errors
        case NoSafePlan():
            return not errors and not asked_more
        case _:
            return False


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
    assert several, "candidates with the same options need different plans"
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
