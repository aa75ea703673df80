"""A stored time lies in the future.

What it is
----------
kinsumer: the LastUpdate of an owned checkpoint, of a client, of the Leader row or of the ShardCache
is more than five minutes ahead of the time at which the stream was listed. KCL 3.x: the `lut` of a
worker's statistics is more than a quarter of an hour ahead; Spark: so is an AT_TIMESTAMP.

Why it matters
--------------
Such a row counts as fresh until that time, and then for the usual time. An owner keeps its shard:
no client captures it, and nothing of it is read. A client that does not exist gets its share of the
shards, and may be the leader. A Leader row or a ShardCache from the future keeps every leader from
finding shards that are not in the cache, such as the children of a split. Nothing is logged.

A KCL 3.x leader gives such a worker, which may not run, leases again and again: they are not read
until they are taken from it after the failover time.

Kinesis refuses AT_TIMESTAMP with a time in the future: the query crashes at every start until then.

How it happens
--------------
The clock of one machine was wrong, and its client was killed; a script wrote milliseconds instead
of nanoseconds, or the reverse; a table was restored with invented times; a position was written by
hand in another unit than milliseconds.

What the fix writes
-------------------
Removes the owner of the checkpoint, whose position stays; deletes the row of such a client, as the
client itself does when it stops; removes the Leader row's ID; writes the ShardCache with the
unfinished shards and the time at which the last of them was opened or closed.

For KCL nothing, as the row is no lease: stop every worker and delete it by hand.

For Spark: the position before that time, of an earlier batch, or the shard's beginning.

    reshardctl fix kinsumer://APP --stream NAME --dry-run

When the fix is not offered
---------------------------
While a client renews any row: a machine whose clock is ahead may be running. Stop it, and set its
clock.

Example
-------
    checkpoints   3            OwnerID c1   LastUpdate 1795392000000000000 (tomorrow)
    metadata      ShardCache   0, 1, 2      LastUpdate 1795392000000000000: 3 is not found

Seen in the wild
----------------
No public report known. Run on snowplow-devops/kinsumer v1.7.0 and twitchscience/kinsumer 9a48088.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH404", "time-in-the-future"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard is not read before that time; a warning where no row shows which one."""
    for crash in view.harmed(Harm.CRASHES, Cause.CLOCK_AHEAD):
        at = "its position is a time that lies in the future"
        yield Finding(CODE, NAME, Severity.ERROR, crash.by, at, crash.why, (crash,))
    what = "held by a time that lies in the future"
    held = [e for e in view.harmed(Harm.STALLED, Cause.CLOCK_AHEAD) if e.certain]
    for why in dict.fromkeys(effect.why for effect in held):
        yield from from_effects(CODE, NAME, [e for e in held if e.why == why], what, why)
    for risk in view.simulation.risks:
        if risk.cause is Cause.CLOCK_AHEAD:
            yield Finding(
                CODE, NAME, Severity.WARNING, risk.shards, what, risk.why, helps=risk.helps
            )
