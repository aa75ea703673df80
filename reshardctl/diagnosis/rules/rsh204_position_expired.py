"""A stored place lies behind what the stream still keeps.

What it is
----------
A row's number was written longer ago than the stream's retention, or its shard has expired and is
not listed any more while the row had not come to its end.

Why it matters
--------------
Records behind it may be gone. Kinesis does not say so: it goes on at the oldest record that is
left, and for a shard that is gone KCL takes "not found" for its end. Others die of it: Qubole's
connector for Spark of a shard that is gone, kinesis-lineage of both, unless failOnDataLoss=false.

How it happens
--------------
The application was stopped, or behind, for longer than the retention; or the retention was cut. An
idle shard looks the same: its last record may simply be that old.

What the fix writes
-------------------
Nothing: no position brings records back, and KCL goes on by itself. For a query of Spark that dies
of a shard that is gone, a place without it: what it held is lost either way. To tell a loss from an
idle shard that is still listed:

    reshardctl inspect kcl://TABLE --stream NAME --probe

Raise the retention now if other shards are near their deadline; it keeps what is left, no more.

When the fix is not offered
---------------------------
Always, but for a query that dies of a shard that is gone. The finding goes away by itself once the
consumer has moved on or its row has ended. kinesis-lineage at a place that is older than the
retention is started once with failOnDataLoss=false; --policy latest skips more.

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
    """Warning: records may be gone already, and no position brings them back. Error where the
    consumer dies of a shard that has expired."""
    if dies := view.harmed(Harm.CRASHES, Cause.GONE):
        shards = tuple(s for e in dies for s in e.by)
        what = "the shard is not listed any more, and the consumer still wants it"
        yield Finding(CODE, NAME, Severity.ERROR, shards, what, dies[0].why, tuple(dies))
        return
    if dies := view.harmed(Harm.CRASHES, Cause.EXPIRED):
        shards = tuple(s for e in dies for s in e.by)
        what = "the position is older than the stream's retention"
        helps = "started once with failOnDataLoss=false it goes on at the oldest record left"
        yield Finding(
            CODE, NAME, Severity.ERROR, shards, what, dies[0].why, tuple(dies), helps=helps
        )
        return
    found = [e for e in view.harmed(Harm.SKIPPED) if e.gone]
    what = "the position is older than the stream's retention, or the shard has expired"
    costs = "records behind it may be gone already; nothing brings them back"
    yield from from_effects(
        CODE, NAME, found, what, costs, Severity.WARNING, "--probe tells an idle shard from a loss"
    )
