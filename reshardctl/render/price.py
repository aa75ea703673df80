"""What a plan costs, as a sentence: per shard and in all."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.model.times import instant
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Plan
from reshardctl.render.words import broadest, capital, shards, total, width_in_all


def price_words(decided: Plan) -> str:
    """What a plan costs: `Skips nothing, re-reads ≤ 14h a shard, reads 3, 4 out of order.`."""
    effects = [e for run in decided.after for e in run if not (e.gone or e.past)]
    skipped = [e for e in (*effects, *decided.costs) if e.harm is Harm.SKIPPED]
    again = [e for e in effects if e.harm is Harm.REREAD]
    mixed = dict.fromkeys(
        e.shard for e in decided.price if e.harm is Harm.DISORDERED and e.shard is not None
    )
    forgotten = f"{_forgotten(decided)}, " if decided.forgets else ""
    order = f", reads {shards(mixed)} out of order" if mixed else ""
    return capital(f"{forgotten}skips {_by_shard(skipped)}, re-reads {_by_shard(again)}{order}.")


def _forgotten(decided: Plan) -> str:
    """With the time of the newest number: an operator knows whether that stream still lived."""
    gone = "stored position" if decided.forgets == 1 else "stored positions"
    newest = decided.newest_forgotten
    since = "" if newest is None else f" (the newest of {instant(newest)})"
    return f"forgets {decided.forgets} {gone}{since}"


def _by_shard(effects: Sequence[Effect]) -> str:
    if not effects:
        return "nothing"
    counted = total(effects)
    several = len({e.shard for e in effects}) > 1
    all_of_it = [f"{width_in_all(effects)} in all"] if several else []
    all_of_it += [counted if several else f"{counted} in all"] if counted else []
    per_shard = f"{broadest(effects)} a shard"
    return per_shard + (f" ({', '.join(all_of_it)})" if all_of_it else "")
