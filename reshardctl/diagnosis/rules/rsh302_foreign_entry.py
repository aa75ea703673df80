"""Rows of other kinds beside the positions.

What it is
----------
The lease table holds rows that are no leases: KCL 3.5 keeps its leader's lock, the state of its
migration and its workers' statistics there (entityType LEADER, ...). Or a key names no shard, such
as a note or a copy of a row; a row is of a multi-stream application in the table of a single-stream
one, or the reverse; a row of another stream of a multi-stream table cannot be read; a snapshot of a
Quickwit metastore holds a row of no source's position.

Why it matters
--------------
For 3.5 they are normal: info (3.5.0 logs an error for each in multi-stream tables, and works). An
older release cannot read them and crashes at its start: error. A row with all attributes of a lease
but no shard's id counts as the lease of an expired shard in every release; if its key cannot be an
id (`bak:shardId-…`), Kinesis refuses it and the lease never ends, so that hash keys on it hide a
hole from KCL's auditor: the shard that has lost its lease is never read (RSH203). KCL 3.x also
crashes at a row `Migration3.0` that lacks `cv`, `mb` or `mts`, or whose `cv` or history it does not
know.

How it happens
--------------
An upgrade to 3.5 that was rolled back by deploying the older release. AWS's KclMigrationTool leaves
these rows before 3.5.3. An incomplete `Migration3.0` was written by hand.

What the fix writes
-------------------
Nothing: only leases are written, and other rows are neither changed nor deleted.

When the fix is not offered
---------------------------
Always. Start 3.5 again: in its 2.x-compatible mode it assigns leases as 2.x does. Or let AWS's
migration tool, KclMigrationTool.py of KCL 3.5.3 or later, remove these rows: docs/kcl.md has the
option and the order. Repair a row of unknown origin, or an incomplete `Migration3.0` (in 3.0 to 3.4
it is in TABLE-CoordinatorState, under `key`), by hand while no worker runs. Then inspect again:

    reshardctl inspect 'kcl://TABLE?release=2.7.2' --stream NAME

Example
-------
    Leader         LEADER
    Migration3.0   CLIENT_VERSION_MIGRATION
    2              49…17                        a lease

Seen in the wild
----------------
awslabs/amazon-kinesis-client#1791 (3.5.0's errors in multi-stream tables; fixed by #1792 in 3.5.1),
#1813 (the tool that removes them).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.model import AnomalyKind
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH302", "foreign-entry"


def match(view: View) -> Iterator[Finding]:
    """Info; an error where the starting release crashes."""
    anomalies = view.anomalies_of(AnomalyKind.FOREIGN_ENTRY)
    if not anomalies:
        return
    crashes = view.harmed(Harm.CRASHES, None)
    severity = Severity.ERROR if crashes else Severity.INFO
    kinds = ", ".join(dict.fromkeys(o.raw for o in anomalies))
    yield Finding(
        CODE, NAME, severity, (), f"rows that are no positions ({kinds}); they are never touched",
        crashes[0].why if crashes else "", tuple(crashes),
    )
