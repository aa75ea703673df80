"""A shard is read while an ancestor still owes records.

What it is
----------
The next start reads a shard beside an ancestor that has unread records, and nothing makes it wait.
Or it has happened: the shard has progress, and a parent of it is not done.

Why it matters
--------------
Records of one key lie in the ancestor first and in the shard later. Nothing is lost, but they may
be processed out of order.

How it happens
--------------
KCL lets a shard wait for the parents named on its own row (parentShardId), and only for those that
have a lease; what ListShards says is not asked. A row written by hand without parentShardId, or a
parent's row that was deleted and re-created, opens the gate.

kinsumer and Quickwit never order: they read every shard at once, children beside their unread
parents, and no position changes that. Quickwit marks no end either: a closed shard at a record of
its last five minutes is taken for read, unless --probe finds more. To keep order through a reshard
with them, let them read the parents to their end before anything is written to the children.

What the fix writes
-------------------
The missing parents into parentShardId of the unfinished row; its position stays.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
For disorder that has happened: a shard with progress is never rewound to mend an order that is
gone already. A repair that brings disorder of its own is planned, and asked about where it is
written: --yes alone does not take it, --accept disorder does.

Example
-------
    0   49…12 of 49…99 ─┬─ 2   TRIM_HORIZON, names no parent: runs at once
                        └─ 3   TRIM_HORIZON, parentShardId 0: waits

Seen in the wild
----------------
awslabs/amazon-kinesis-client#150 ("No lease found for shard … Not blocking on completion").
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH201", "child-before-parent"


def match(view: View) -> Iterator[Finding]:
    """Warning: order by key is broken between the two. Not where it only may be."""
    found = [effect for effect in view.harmed(Harm.DISORDERED) if effect.certain]
    what = "read while an ancestor still has unread records, and does not wait for it"
    costs = "records of one key may be processed out of order"
    yield from from_effects(CODE, NAME, found, what, costs, Severity.WARNING)
