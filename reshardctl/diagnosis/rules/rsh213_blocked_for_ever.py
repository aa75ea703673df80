"""A shard waits for a parent that never ends.

What it is
----------
The shard's lease waits for a parent, or would be created at a parent's end, and that parent does
not end, however long the consumer runs.

Why it matters
--------------
Nothing of the shard is read until the parent is repaired; its records expire unread. Its
descendants wait with it.

How it happens
--------------
The parent has a finding of its own: its number is refused (RSH207), it is at AT_TIMESTAMP (RSH215),
its row cannot be read (RSH301), its SHARD_END does not count (RSH304), it has no lease (RSH202,
RSH203), or it waits for the other parent of a merge (RSH211). Or the row's parentShardId names a
shard that is no parent, perhaps the shard itself: KCL uses only that attribute. Telegraf before
1.36.4 waits for a parent that is not listed any more, and kinesis-consumer's group for one that has
a lease which is not completed.

What the fix writes
-------------------
Nothing for this shard: the fix of the parent unblocks it at the next start. If the row names a
wrong parent, the shard's own parents; its position stays. If the parent is not listed any more, and
its own row waits for what never ends, the end of that row.

    reshardctl inspect kcl://TABLE --stream NAME

When the fix is not offered
---------------------------
If the parent's is not: see its finding. Where the parent is not listed any more and has no row, no
position helps: the plan names the way out. A parent that is merely behind is no finding. A parent
whose application never checkpoints at its end, or for which no worker has capacity, blocks its
children too; no table shows that, but the application's log does. So does one without records whose
end KCL 2.0–2.6.0 lost by a race: it ends once the worker is restarted.

Example
-------
    0   closed, number of another shard ─┬─ 2   TRIM_HORIZON, waits
                                         └─ 3   TRIM_HORIZON, waits

Seen in the wild
----------------
awslabs/amazon-kinesis-client#211, #1733 and Graylog2/graylog-plugin-aws#102 (no checkpoint at the
end), #202 (no room for the parent), #837 and #1319 (a lost end); #114 and #786 (a parent that is
only behind).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.diagnosis.rules.base import Finding, View, from_effects
from reshardctl.diagnosis.rules.families import waits_for_a_parent
from reshardctl.model import Cause, ShardId, awaited, short
from reshardctl.planning.effects import Effect, Harm

CODE, NAME = "RSH213", "blocked-for-ever"


def match(view: View) -> Iterator[Finding]:
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
    yield from from_effects(CODE, NAME, effects, what, costs, helps=helps if named else "")


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
