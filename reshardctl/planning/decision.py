"""The decisions about a consumer, as values, and the part of it that a plan may write.

What a plan writes beyond the selected shards is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reshardctl.model import ShardId, Step
from reshardctl.planning.effects import Effect


@dataclass(frozen=True, slots=True)
class Scope:
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


@dataclass(frozen=True, slots=True)
class Added:
    """A shard that a plan writes although it was not selected, with the reason."""

    shard: ShardId
    why: str


@dataclass(frozen=True, slots=True)
class Residual:
    """A shard left alone because its repair costs more than is accepted, is not known, or not ours.

    costs: of the repair; if `why` says that there is none, of the start without it. flag: what
    accepts the cost, "" if nothing does: a stall cannot be accepted.
    """

    shard: ShardId
    costs: Effect
    flag: str
    why: str = ""
    ways_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """The next start already does what the policy wants, or no write that we may make helps."""

    residuals: tuple[Residual, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
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


@dataclass(frozen=True, slots=True)
class NoSafePlan:
    """There is no frontier that the consumer can hold and the policy accepts.

    needs: the shards that can be mended together, if it is only that some of them were not
    selected; empty if the reason is another.
    """

    why: str
    ways_out: tuple[str, ...]
    needs: tuple[ShardId, ...] = ()


Answer = tuple[tuple[str, str], ...]
"""Options with the values given for them."""


@dataclass(frozen=True, slots=True)
class Ask:
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
