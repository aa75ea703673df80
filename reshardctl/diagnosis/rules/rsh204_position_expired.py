"""A stored position is older than the records that the stream still has.

What it is
----------
A row's number was written longer ago than the stream's retention, or its shard has expired and is
not listed any more although the row is not finished.

Why it matters
--------------
Records after it may be gone. Kinesis does not say so: it continues at the oldest record that is
left, and KCL takes "not found" for the end of an expired shard. Other consumers crash, unless
failOnDataLoss=false: Qubole's connector for Spark at an expired shard, kinesis-lineage at both.

How it happens
--------------
The application was stopped, or behind, for longer than the retention; or the retention was
shortened. An idle shard looks the same: its last record may simply be that old.

What the fix writes
-------------------
Nothing: no position restores records, and KCL continues by itself. For a Spark query that crashes
at an expired shard, a position without that shard, whose records are lost either way. To
distinguish a loss from an idle shard that is still listed:

    reshardctl inspect kcl://TABLE --stream NAME --probe

Extend the retention now if other shards are near their deadline; it only keeps what is left.

When the fix is not offered
---------------------------
Always, except for a query that crashes at an expired shard. The finding disappears once the
consumer has moved on or its row has ended. Start kinesis-lineage once with failOnDataLoss=false if
its position is older than the retention; --policy latest skips more.

Example
-------
    retention 24h
    0   open         49…12   written 31h ago
    1   not listed   49…40   its records after that are gone

Seen in the wild
----------------
harlow/kinesis-consumer#125 (a consumer of another library that reads nothing from there on).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH204", "position-expired"


def match(view: View) -> Iterator[Finding]:
    """Warning: records may be gone; an error where the consumer crashes at an expired shard."""
    if crashes := view.harmed(Harm.CRASHES, Cause.GONE):
        shards = tuple(s for e in crashes for s in e.by)
        what = "the shard is not listed any more, and the consumer still wants it"
        yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    if crashes := view.harmed(Harm.CRASHES, Cause.EXPIRED):
        shards = tuple(s for e in crashes for s in e.by)
        what = "the position is older than the stream's retention"
        helps = "started once with failOnDataLoss=false it goes on at the oldest record left"
        yield Finding(
            CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes), helps=helps
        )
        return
    effects = [e for e in view.harmed(Harm.SKIPPED) if e.gone]
    what = "the position is older than the stream's retention, or the shard has expired"
    costs = "records after it may be gone already; nothing brings them back"
    yield from from_effects(
        CODE, NAME, effects, what, costs, Severity.WARNING,
        "--probe tells an idle shard from a loss"
    )
