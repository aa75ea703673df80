"""What can be decided of a consumer: the answers, as values."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.effects import Effect
from reshardctl.model import ShardId, Step


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
class NoLine:
    """There is no line that the consumer can hold and the policy accepts."""

    why: str
    ways_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Candidates need different plans; `option` with one of `values` settles it.

    decisions: of each value what its candidates come to; empty where the question is of another
    kind. default: the value that the library takes where nothing is set, "" where it has none.
    """

    option: str
    values: tuple[str, ...]
    decisions: tuple[tuple[Decision, ...], ...] = ()
    default: str = ""


Decision = Nothing | Plan | NoLine | Ask


def nothing_left(decision: Decision, *, errors: bool, asked_more: bool = False) -> bool:
    """Whether a `fix` that comes to this has left nothing to repair: no shard, and no error.

    Where no line can be held and only warnings say so, `inspect` finds nothing that fails, and nor
    does `fix`. asked_more: a policy beyond skipping nothing was asked for, and cannot be had.
    """
    match decision:
        case Nothing(residuals):
            return not residuals and not errors
        case NoLine():
            return not errors and not asked_more
        case _:
            return False
