"""What can be decided of a consumer: the answers, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reshardctl.model import ShardId, Step
from reshardctl.planning.effects import Effect


@dataclass(frozen=True, slots=True)
class Residual:
    """A shard left alone because its repair costs more than is accepted.

    flag: what accepts the cost, "" where nothing does: no one accepts that a shard stalls.
    """

    shard: ShardId
    costs: Effect
    flag: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """The next start already does what the policy wants, or nothing that we may do helps."""

    residuals: tuple[Residual, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps with their proof. `before`, `after`: one entry a candidate, in the same order."""

    steps: tuple[Step, ...]
    before: tuple[tuple[Effect, ...], ...]
    after: tuple[tuple[Effect, ...], ...]
    residuals: tuple[Residual, ...] = ()
    costs: tuple[Effect, ...] = ()
    """What the policy itself skips, measured against skipping nothing."""
    notes: tuple[str, ...] = ()
    """What is to be known of the starts after it, as of those before."""
    price: tuple[Effect, ...] = ()
    """What the starts after it cost and those before do not: consent is asked for it."""


@dataclass(frozen=True, slots=True)
class NoSafePlan:
    """There is no line that the consumer can hold and the policy accepts."""

    why: str
    ways_out: tuple[str, ...]


Answer = tuple[tuple[str, str], ...]
"""Options with the values that are said of them."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Candidates need different plans; one of `answers` settles it, each naming what has to be
    known of `options`.

    decisions: of each answer what its candidates come to; empty where the question is of another
    kind. defaults: the values that the library takes where nothing is set, where it has one.
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


def nothing_left(decision: Decision, *, errors: bool, asked_more: bool = False) -> bool:
    """Whether a `fix` that comes to this has left nothing to repair: no shard, and no error.

    Where no line can be held and only warnings say so, `inspect` finds nothing that fails, and nor
    does `fix`. asked_more: a policy beyond skipping nothing was asked for, and cannot be had.
    """
    match decision:
        case Nothing(residuals):
            return not residuals and not errors
        case NoSafePlan():
            return not errors and not asked_more
        case _:
            return False
