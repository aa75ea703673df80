"""A row that the consumer cannot read.

What it is
----------
A lease lacks leaseCounter or ownerSwitchesSinceCheckpoint, an attribute that the release reads has
another type or is out of range, or its checkpoint is missing or no position: see docs/kcl.md.

Why it matters
--------------
At a row that they cannot read, workers of KCL 1.x and 2.x crash ("Unable to initialize after 20
attempts"), and 3.0 to 3.4 if a scan returns that row first; otherwise they skip the row like 3.5,
never read the shard, and children wait for ever. Without a checkpoint the shard fails at every
attempt and every audit throws, so that no hole is refilled; 1.x and 2.0–2.2 crash.

A Spark query reads its newest offset logs and the connector's log of the newest batch; if one of
these is missing or damaged, it crashes at every start. Quickwit crashes at every start at an end
mark (`~`, `~49…`) on a listed shard; a word or a padded number stalls only that shard, without a
sign. An index whose text is no JSON, or has an unknown field, is not loaded: see RSH307.
In a SQL table without a unique key kinesis-consumer cannot save: each start reads the same again.

How it happens
--------------
A row written by hand or by a script; a table restored from CSV, where every attribute is a string;
a NULL because boto3 was given None. zio-kinesis's own consumer makes leases without
ownerSwitchesSinceCheckpoint and reads them; its parentShardIds show it, and a note tells so.

What the fix writes
-------------------
Each wrong attribute, with its right type: a number that became a string keeps its value, a missing
one is 0, hash keys and sets of shards are those of the stream, throughputKBps and the prepared
checkpoint's attributes are removed. The position stays. An unreadable checkpoint becomes
TRIM_HORIZON. Attributes that KCL does not know stay. In Quickwit, the number after the `~`, without
its padding; no entry if there is none.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
If no checkpoint can be read and the shard is longer than the --accept reread=… that was given. A
table in which no key is a shard id is no KCL lease table: exit 2. An index that is not loaded. A
SQL table without a unique key: leave one row for each shard, then add a primary key.

Example
-------
    2   TRIM_HORIZON, no leaseCounter    2.7.2 crashes · 3.5.1 never reads 2

Seen in the wild
----------------
No public report known. Run on KCL 1.15.3 to 3.5.1. Alike: awslabs/amazon-kinesis-client#1791.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, earliest, shards_of
from reshardctl.diagnosis.rules.families import unreadable
from reshardctl.model import AnomalyKind, Cause, ShardId, WillRead
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH301", "unreadable-entry"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard is not read, or the whole consumer crashes, by release."""
    if kept := view.anomalies_of(AnomalyKind.NOT_KEPT):
        what = f"no position can be saved: {'; '.join(o.why for o in kept)}"
        costs = "each start reads again what was read since the stored position"
        yield Finding(CODE, NAME, Severity.ERROR, (), what, costs)
    anomalies = unreadable(view)
    if not anomalies:
        yield from _missing(view)
        return
    why = "; ".join(dict.fromkeys(o.why for o in anomalies))
    costs = "nothing of such a shard is read"
    if crashes := view.harmed(Harm.CRASHES, Cause.UNREADABLE):
        costs = crashes[0].why
    elif all(_as_without_it(view, anomaly.shard) for anomaly in anomalies):
        costs = "the consumer goes on as if there were no such row"
    stalls = tuple(e for e in view.harmed(Harm.STALLED, Cause.UNREADABLE) if not e.by)
    yield Finding(
        CODE, NAME, Severity.ERROR, shards_of(anomalies), f"rows that cannot be read: {why}", costs,
        (*crashes, *stalls), earliest(stalls),
    )


def _as_without_it(view: View, shard: ShardId | None) -> bool:
    fate = view.simulation.fates.get(shard) if shard is not None else None
    return isinstance(fate, WillRead) and fate.cause in (Cause.REFILLED, Cause.BOOTSTRAP)


def _missing(view: View) -> Iterator[Finding]:
    """Files that are missing, so cannot be read. Mistyped parents are RSH305's."""
    if view.anomalies_of(AnomalyKind.PARENTS_UNREADABLE):
        return
    if crashes := view.harmed(Harm.CRASHES, Cause.UNREADABLE):
        what = "what the consumer reads first is missing or incomplete"
        yield Finding(CODE, NAME, Severity.ERROR, (), what, crashes[0].why, tuple(crashes))
