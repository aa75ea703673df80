"""Consent: the part of a plan's price beyond a limit, and the `--accept` that takes it."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from reshardctl.model import ShardId
from reshardctl.model.times import duration
from reshardctl.planning.decision import Decision, Plan
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.policy import UNASKED, Accept
from reshardctl.planning.prices import SLACK, acceptable

HALF_HOUR = 1800.0


def exceeding(plan: Plan, limit: Accept | None) -> list[Effect]:
    """The costs of the plan beyond the limit; `None` is what is accepted without a question."""
    return [effect for effect in plan.price if not acceptable(effect, limit or UNASKED)]


def unasked(plan: Plan) -> Plan:
    """A plan that was made before, by another command: what its policy skips is in its price too.

    Its file names the policy, but the command that writes it did not.
    """
    return replace(plan, price=tuple(dict.fromkeys((*plan.price, *plan.costs))))


def leaves_no_loss(part: Decision, whole: Plan) -> bool:
    """Whether a plan that leaves dear shards alone mends every certain harm that the whole mends.

    What it leaves alone is then a possible loss, which keeps no certain one from being mended.
    """
    return isinstance(part, Plan) and _certain_harms(part) <= _certain_harms(whole)


def _certain_harms(plan: Plan) -> set[tuple[Harm, ShardId | None]]:
    """What a start after the plan is certain to do, and positions could keep it from doing."""
    return {
        (e.harm, e.shard) for run in plan.after for e in run
        if e.certain and not (e.gone or e.past or e.inherent)
    }


def flag(plan: Plan, limit: Accept | None) -> str:
    """The value of `--accept` that takes the plan; "" if none is needed."""
    if not exceeding(plan, limit):
        return ""
    parts: dict[str, str] = {}
    for harm, word in ((Harm.SKIPPED, "skip"), (Harm.REREAD, "reread")):
        effects = [e for e in plan.price if e.harm is harm and not acceptable(e, UNASKED)]
        if effects:
            parts[word] = f"{word}={_rounded_up([e.seconds for e in effects])}"
    if any(e.harm is Harm.DISORDERED for e in plan.price):
        parts["disorder"] = "disorder"
    if limit is not None and limit.reread < UNASKED.reread:
        parts.setdefault("reread", "reread=1h")
    return ",".join(parts.values())


def _rounded_up(widths: list[float | None]) -> str:
    """A limit above all widths, in units that `duration` shows whole."""
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return "all"
    wanted = max(known) + SLACK
    unit = HALF_HOUR if wanted < 23 * 3600 else 3600.0
    return duration(ceil(wanted / unit) * unit)
