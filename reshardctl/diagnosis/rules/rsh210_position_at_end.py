"""A finished shard whose end is stored as a plain number.

What it is
----------
The checkpoint is the shard's EndingSequenceNumber, written as a number and not as SHARD_END. No
record has that number.

Why it matters
--------------
It is *possible*, not certain, that the shard stalls there and blocks its children: what AWS answers
to a request AT that number is not known. A request AFTER it is refused.

kinsumer is refused too, at every start (run, Nov 2026): the shard is never marked as finished, and
stays in the ShardCache; the other shards are read.

Spark's connectors ask for what follows it, and crash at the refusal, at every start. So does
kinesis-consumer (run, Nov 2026); only Telegraf's input takes the number for the shard's end.

How it happens
--------------
A script or another library took the number from ListShards for the last record's position.

What the fix writes
-------------------
SHARD_END in the row and, in the same transaction, leases at TRIM_HORIZON for children without one.
All records are at or below the number, so nothing is skipped. For kinsumer, the finished mark and a
ShardCache without the shard.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
While the application runs: stop it first, or add --live where the plan says that all writes are
safe.

Example
-------
    0   closed, 49…(its end) ─┬─ 2   TRIM_HORIZON, waits for 0
                              └─ 3   TRIM_HORIZON, waits for 0

Seen in the wild
----------------
etspaceman/kinesis-mock#1536 (AWS's refusal of AFTER on that number, and who depends on it).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH210", "position-at-end"


def match(view: View) -> Iterator[Finding]:
    """Warning: Kinesis's answer to the number is not known; an error where the consumer crashes."""
    effects = [e for e in view.effects if e.cause is Cause.AT_END and e.harm is Harm.STALLED]
    what = "its position is the shard's EndingSequenceNumber, which is no record's number"
    costs = "; ".join(dict.fromkeys(e.why for e in effects))
    yield from from_effects(CODE, NAME, effects, what, costs, Severity.WARNING)
    if crashes := view.harmed(Harm.CRASHES, Cause.AT_END):
        shards = tuple(s for e in crashes for s in e.by)
        yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
