"""The words of costs: what is skipped, read again or waits, how much, and by when it is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from reshardctl.model import TIP, ShardId
from reshardctl.model.times import duration, instant
from reshardctl.planning.effects import Deadline, Effect, Harm
from reshardctl.planning.plan import Plan
from reshardctl.planning.prices import by_place, so_already
from reshardctl.render.words import ago, brief, capital, count, shards

AT_LEAST = "at least "

_HARMS = list(Harm)

PRICED = (("skips", Harm.SKIPPED), ("re-reads", Harm.REREAD))
"""The words of what records cost."""

IDLE = "losing records now, or idle; check with --probe"


def extent(effect: Effect) -> str:
    """The size of an effect in a sentence: `up to 12m of records`, `an unknown amount`.

    Where its records were counted, their number follows: `up to 12m, 40 records`.
    """
    return _of_records(_with_records(_width(effect), [effect]))


def _width(effect: Effect) -> str:
    """`up to 12m`; `at least 12m` where it grows until the start; `unknown`."""
    if effect.seconds is None:
        return "unknown"
    return _bound(effect.seconds, grows=_grows(effect))


def _bound(seconds: float, *, grows: bool) -> str:
    return f"at least {brief(seconds)}" if grows else f"up to {duration(_rounded_up(seconds))}"


def _of_records(width: str) -> str:
    if width == "unknown":
        return "an unknown amount"
    return width if width == "nothing" or "record" in width else f"{width} of records"


def _with_records(width: str, effects: Iterable[Effect]) -> str:
    """`up to 12m, 40 records`; `at least` is said once."""
    counted = total(effects)
    if width.startswith(AT_LEAST):
        counted = counted.removeprefix(AT_LEAST)
    return f"{width}, {counted}" if counted else width


def _grows(effect: Effect) -> bool:
    """Whether it grows until the consumer starts."""
    return effect.harm is Harm.SKIPPED and effect.until == TIP


def total(effects: Iterable[Effect]) -> str:
    """`40 records`; `at least 40 records`, where there may be more; "" if not all were counted."""
    each = {(e.shard, e.since, e.until): e for e in effects}.values()
    counts = [e.records for e in each if e.records is not None]
    if not counts or len(counts) < len(each):
        return ""
    least = any(c.at_least for c in counts) or any(_grows(e) for e in each)
    return (AT_LEAST if least else "") + count(sum(c.records for c in counts), "record")


def left_in(effects: Iterable[Effect]) -> list[str]:
    """A line a shard that was read: what is left in it, and from when to when it arrived."""
    lines = {}
    for effect in effects:
        records = effect.records
        if records is None or effect.shard is None or effect.harm is not Harm.STALLED:
            continue
        when = ""
        if records.first_arrival is not None and records.last_arrival is not None:
            when = f", arrived {instant(records.first_arrival)} to {instant(records.last_arrival)}"
            when += " and later" if records.at_least else ""
        lines[effect.shard] = f"{shards((effect.shard,))}: {total([effect])} left{when}"
    return list(lines.values())


def _rounded_up(seconds: float) -> float:
    """To whole hours, minutes or, below one, seconds: a bound is never shown too low."""
    unit = 3600 if seconds >= 86400 else 60 if seconds >= 60 else 1
    return float(max(ceil(seconds / unit), 1) * unit)


def widest(effects: Iterable[Effect], harm: Harm) -> str:
    """The largest extent of a kind, or `nothing`; with the records of all together."""
    of_kind = [e for e in effects if e.harm is harm]
    return _with_records(broadest(of_kind), of_kind)


def priced(effects: Iterable[Effect]) -> str:
    """What shards cost, in a sentence: `re-reads up to 47m of records`; of nothing both words."""
    held = list(effects)
    widths = [(word, widest(held, harm)) for word, harm in PRICED]
    costly = [pair for pair in widths if pair[1] != "nothing"]
    parts = [f"{word} {_of_records(width)}" for word, width in costly or widths]
    if any(disorders(effect) for effect in held):
        parts.append("out of order")
    return ", ".join(parts)


def broadest(effects: Sequence[Effect]) -> str:
    """The largest width; `nothing` without an effect."""
    if not effects:
        return "nothing"
    return _width(max(effects, key=_size))


def _size(effect: Effect) -> tuple[bool, float]:
    """Sorts by width; an unknown one may be the largest."""
    return effect.seconds is None, effect.seconds or 0.0


def disorders(effect: Effect) -> bool:
    """Whether a shard is read out of order that could be read in order."""
    return effect.harm is Harm.DISORDERED and not (effect.past or effect.inherent)


def width_in_all(effects: Iterable[Effect]) -> str:
    """The widths of all shards together, of each its largest."""
    each: dict[ShardId | None, Effect] = {}
    for effect in effects:
        if effect.seconds is None:
            return "unknown"
        if effect.shard not in each or (each[effect.shard].seconds or 0.0) < effect.seconds:
            each[effect.shard] = effect
    seconds = sum(effect.seconds or 0.0 for effect in each.values())
    return _bound(seconds, grows=any(_grows(effect) for effect in each.values()))


def worst(effects: Sequence[Effect]) -> Effect | None:
    """The gravest effect: by kind, then certain ones, those that are not past, and the widest."""
    return max(
        effects, key=lambda e: (_HARMS.index(e.harm), e.certain, not e.gone, _size(e)),
        default=None,
    )


def cost(effect: Effect) -> str:
    """`skips up to 12m of records`, `never read`, `crashes at its start`, `out of order`."""
    if effect.gone:
        return "may be lost already"
    match effect.harm:
        case Harm.SKIPPED:
            return f"skips {extent(effect)}"
        case Harm.REREAD:
            return f"re-reads {extent(effect)}"
        case Harm.DISORDERED:
            return "was out of order" if effect.past else "out of order"
        case Harm.STALLED:
            return "never read"
        case Harm.CRASHES:
            return "crashes at its start"


def lead(effects: Sequence[Effect], deadline: Deadline | None, now: float) -> str:
    """The few words at the right of a finding's first line."""
    effect = worst(effects)
    if effect is None:
        return ""
    if effect.harm is Harm.STALLED and deadline is not None:
        return left(deadline, now)
    return cost(effect)


def left(deadline: Deadline, now: float) -> str:
    """`loss in 20h19m`; where that is past, whether anything is lost."""
    if deadline.complete is not None and deadline.complete <= now:
        return f"expired {ago(deadline.complete, now)}"
    if deadline.starts is None:
        if deadline.complete is None:
            return "loss at an unknown time"
        return f"loss within {duration(deadline.complete - now)}"
    if deadline.starts > now:
        return f"loss in {duration(deadline.starts - now)}"
    return "losing now" if deadline.probed else IDLE


_LOSS = ("loss", "it")
_EXPIRY = {
    Harm.SKIPPED: ("the skipped records expire", "them"),
    Harm.CRASHES: ("while it does not start, unread records expire", "them"),
}


def absolute(effects: Sequence[Effect], deadline: Deadline) -> str:
    """The same in UTC: `loss from 2026-09-23T09:14:00Z at the earliest, all of it by …`.

    What is skipped is skipped at the start; then the deadline is that of its records. A crash
    lasts until it is repaired.
    """
    effect = worst(effects)
    word, every = _EXPIRY.get(effect.harm, _LOSS) if effect is not None else _LOSS
    end = "" if deadline.complete is None else f" by {instant(deadline.complete)}"
    if deadline.starts is None:
        return f"{word}{end} at the latest" if end else f"{word} at an unknown time"
    bound = "" if deadline.probed else " at the earliest"
    last = f", all of {every}{end}" if end else ""
    return f"{word} from {instant(deadline.starts)}{bound}{last}"


def price_words(decided: Plan) -> str:
    """What a plan costs: `Skips nothing, re-reads up to 14h of records a shard.`."""
    own, _ = _parted(decided)
    skipped = [e for e in (*own, *decided.costs) if e.harm is Harm.SKIPPED]
    again = [e for e in own if e.harm is Harm.REREAD]
    mixed = dict.fromkeys(
        e.shard for e in decided.price if e.harm is Harm.DISORDERED and e.shard is not None
    )
    forgotten = f"{_forgotten(decided)}, " if decided.forgets else ""
    order = f", reads {shards(mixed)} out of order" if mixed else ""
    return capital(f"{forgotten}skips {_by_shard(skipped)}, re-reads {_by_shard(again)}{order}.")


def left_words(decided: Plan) -> str:
    """What the start does without the plan as well: ` Left as it is: 2 skips 23s of records.`."""
    _, without = _parted(decided)
    left = [e for e in without if e.harm in (Harm.SKIPPED, Harm.REREAD)]
    named = shards(dict.fromkeys(e.shard for e in left if e.shard is not None))
    return f" Left as it is: {named} {priced(left)}." if left else ""


def _parted(decided: Plan) -> tuple[list[Effect], list[Effect]]:
    """What a start after the plan costs that one without it does not, and what both cost."""
    before = by_place(e for run in decided.before for e in run)
    own, without = list[Effect](), list[Effect]()
    for effect in (e for run in decided.after for e in run if not (e.gone or e.past)):
        (without if so_already(effect, before) else own).append(effect)
    return own, without


def skipped_words(decided: Plan) -> str:
    """What the policy of a plan skips: `up to 45m of records a shard (up to 2h17m in all)`."""
    return _by_shard([effect for effect in decided.costs if effect.harm is Harm.SKIPPED])


def _forgotten(decided: Plan) -> str:
    """With the time of the newest number: an operator knows whether that stream still lived."""
    gone = "stored position" if decided.forgets == 1 else "stored positions"
    newest = decided.newest_forgotten
    since = "" if newest is None else f" (the newest of {instant(newest)})"
    return f"forgets {decided.forgets} {gone}{since}"


def _by_shard(effects: Sequence[Effect]) -> str:
    if len({e.shard for e in effects}) < 2:
        return _of_records(_with_records(broadest(effects), effects))
    in_all = [total(effects)] if total(effects) else []
    if (width := width_in_all(effects)) != "unknown":
        in_all.insert(0, f"{width} in all")
    together = f" ({', '.join(in_all)})" if in_all else ""
    return f"{_of_records(broadest(effects))} a shard{together}"
