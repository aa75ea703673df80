"""RSH213, see `pages/RSH213.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.diagnosis.rules.base import Found, View, of_effects, rule
from reshardctl.diagnosis.rules.families import waits_for_a_parent
from reshardctl.model import Cause, ShardId, awaited, short
from reshardctl.planning.effects import Effect, Harm


@rule("RSH213", "blocked-for-ever")
def blocked_for_ever(view: View) -> Iterator[Found]:
    """Error: nothing of the shard is read until the parent is repaired."""
    effects = [
        e for e in view.harmed(Harm.STALLED)
        if e.cause is None
        or (e.cause is Cause.NO_POSITION and (e.by or waits_for_a_parent(view, e.shard)))
        or (e.cause is Cause.UNREADABLE and e.by)
    ]
    named = dict.fromkeys(shard for effect in effects for shard in effect.by)
    what = "waiting for a parent that never ends"
    if named:
        what += f": {', '.join(map(short, named))}"
    costs = "not read until that parent is mended; the records expire unread"
    strange = [shard for shard in named if _is_no_parent(view, effects, shard)]
    helps = f"mend {'it' if len(named) == 1 else 'them'} first: see the other findings"
    if held := [shard for shard in named if _is_held(view, shard)]:
        listed = ", ".join(map(short, held))
        helps = f"{listed} is not listed any more, and its row waits too: end that row"
        costs = "not read until that row is ended; the records expire unread"
    elif gone := [shard for shard in named if _is_gone(view, shard)]:
        listed = ", ".join(map(short, gone))
        helps = f"{listed} is not listed any more: no position ends the wait"
        costs = "not read; the records expire unread"
    if strange:
        wrong = ", ".join(map(short, strange))
        helps = f"{wrong} is no parent of what waits for it: the row names a wrong one"
    yield from of_effects(effects, what, costs, helps=helps if named else "")


def _is_no_parent(view: View, effects: Sequence[Effect], shard: ShardId) -> bool:
    waiting = [effect.shard for effect in effects if shard in effect.by]
    return any(
        waiter in view.lineage and shard not in view.lineage[waiter].parents
        for waiter in waiting if waiter is not None
    )


def _is_gone(view: View, shard: ShardId) -> bool:
    """Whether it is not listed, and no row of it is looked at."""
    fate = view.simulation.fates.get(shard)
    return shard not in view.lineage and (fate is None or fate.cause is Cause.GONE)


def _is_held(view: View, shard: ShardId) -> bool:
    """Whether a shard that is not listed has a row that waits for another's end itself."""
    fate = view.simulation.fates.get(shard)
    return fate is not None and _is_gone(view, shard) and bool(awaited(fate))
