"""Whether effects are accepted, need a plan, or are its price.

Consent is about the part of a plan's price beyond a limit, and names the `--accept` that takes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, inf

from msgspec.structs import replace

from reshardctl.consumers.base import Cannot
from reshardctl.model import Cause, Probe, ShardId, short
from reshardctl.model.phrases import listed
from reshardctl.model.times import duration
from reshardctl.planning.decision import Decision, NoSafePlan, Plan
from reshardctl.planning.effects import PAST_EXPIRY, Effect, Harm
from reshardctl.planning.policy import EVERYTHING, UNASKED, Accept

ByPlace = Mapping[ShardId | None, Sequence[Effect]]
"""Effects by their shard."""
TOLD = 5
"""Shards of which an answer says what a read found."""
SLACK = 900.0
"""Seconds by which a width may grow before the suggested command is run."""


def acceptable(effect: Effect, accept: Accept) -> bool:
    """Whether the operator accepts the effect, or no write of ours would change it."""
    if effect.gone or effect.past or effect.inherent:
        return True
    match effect.harm:
        case Harm.REREAD:
            return _within(effect.seconds, accept.reread)
        case Harm.SKIPPED:
            return _within(effect.seconds, accept.skip)
        case Harm.DISORDERED:
            return accept.disorder
        case Harm.STALLED | Harm.CRASHES:
            return False


def _within(seconds: float | None, limit: float) -> bool:
    """Whether a width is within the limit; an unknown one needs the limit EVERYTHING."""
    return limit >= EVERYTHING if seconds is None else seconds <= limit


def worthwhile(effect: Effect, accept: Accept) -> bool:
    """Whether an effect of the present rows needs a plan.

    Stricter than `acceptable`: a certain re-read is worth a plan even if it would be accepted.
    """
    if effect.gone or effect.past:
        return False
    if effect.certain and effect.harm is Harm.REREAD:
        return True
    return not acceptable(effect, accept)


def price(effects: Iterable[Effect], known: ByPlace) -> tuple[Effect, ...]:
    """What is re-read, out of order or skipped after a plan and not without it."""
    return tuple(
        e for e in effects
        if not (e.gone or e.past or e.inherent) and not so_already(e, known)
    )


def by_place(effects: Iterable[Effect]) -> ByPlace:
    """The effects by their shard."""
    by_shard: dict[ShardId | None, list[Effect]] = {}
    for effect in effects:
        by_shard.setdefault(effect.shard, []).append(effect)
    return by_shard


def so_already(effect: Effect, before: ByPlace) -> bool:
    """Whether an effect before the plan includes this one."""
    return any(
        e.since <= effect.since and effect.until <= e.until and (e.certain or not effect.certain)
        for e in before.get(effect.shard, ()) if e.harm is effect.harm
    )


def flag_of_effect(effect: Effect) -> str:
    """The option that accepts the effect, "" if none does."""
    if effect.harm in (Harm.STALLED, Harm.CRASHES):
        return ""
    if effect.harm is Harm.DISORDERED:
        return "--accept disorder"
    word = "reread" if effect.harm is Harm.REREAD else "skip"
    return f"--accept {word}={_rounded_up([effect.seconds])}"


def too_dear(bad: Sequence[Effect]) -> NoSafePlan:
    """The answer for a plan that costs more than is accepted, with the option that accepts it."""
    stuck = [e for e in bad if not flag_of_effect(e)]
    if stuck:
        return no_safe_plan(stuck[0])
    widest = sorted(bad, key=lambda e: inf if e.seconds is None else e.seconds)
    limits = {e.harm: flag_of_effect(e).removeprefix("--accept ") for e in widest}
    accept = "--accept " + ",".join(limits.values())
    shards = ", ".join(dict.fromkeys(str(e.shard) for e in bad if e.shard))
    return NoSafePlan(
        f"the repair costs more than is accepted ({shards}: {bad[0].why})",
        (f"accept it: {accept}",),
    )


def no_safe_plan(effect: Effect) -> NoSafePlan:
    """The answer if no write is known that removes the effect."""
    if effect.harm is Harm.CRASHES and effect.cause is Cause.EXPIRED:
        named = listed([short(shard) for shard in effect.by], TOLD)
        return NoSafePlan(
            f"no write is known that makes this better: of {named}, {effect.why}", (PAST_EXPIRY,)
        )
    return NoSafePlan(
        f"no write is known that makes this better: {effect.why}",
        ("see the finding for what helps",),
    )


def not_held(cannot: Cannot, probes: Mapping[ShardId, Probe]) -> NoSafePlan:
    """The answer for a frontier that the consumer cannot hold, with what reads have shown of it."""
    asked = [(shard, probes[shard]) for shard in cannot.in_doubt if shard in probes]
    ways = tuple(
        way for way in cannot.ways_out
        if way != cannot.by_reading or len(asked) < len(cannot.in_doubt)
    )
    told = [found for found in (_found(shard, probe) for shard, probe in asked[:TOLD]) if found]
    return NoSafePlan("; ".join([cannot.why, *told]), ways)


def _found(shard: ShardId, probe: Probe) -> str:
    if probe.drained:
        return ""
    if probe.silent:
        return f"the reads allowed showed neither a record nor an end in shard {short(shard)}"
    least = "at least " if probe.more else ""
    records = "record" if probe.count == 1 else "records"
    return f"a read found {least}{probe.count} unread {records} in shard {short(shard)}"


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


def _rounded_up(widths: Sequence[float | None]) -> str:
    """A limit above all widths, in units that `duration` shows whole."""
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return "all"
    wanted = max(known) + SLACK
    unit = HALF_HOUR if wanted < 23 * 3600 else 3600.0
    return duration(ceil(wanted / unit) * unit)
