"""A shard is read while an ancestor still has unread records.

What it is
----------
The next start reads a shard although an ancestor has unread records, and does not make it wait. Or
this has happened: the shard has progress, and a parent of it is not finished.

Why it matters
--------------
Records of one key are in the ancestor first and in the shard later. Nothing is lost, but they may
be processed out of order.

How it happens
--------------
KCL makes a shard wait for the parents named on its own row (parentShardId), and only for those with
a lease; it does not ask ListShards. A row written by hand without parentShardId, or a parent's row
that was deleted and re-created, does not block the shard.

kinsumer and Quickwit do not order: they read every shard at once, children beside their unread
parents, and no position changes that. Quickwit marks no end either: a closed shard at a record of
its last five minutes counts as read, unless --probe finds more. To keep order through a reshard
with them, let them finish the parents before anything is written to the children.

What the fix writes
-------------------
Adds the missing parents to parentShardId of the unfinished row; its position stays.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
For disorder that has happened: a shard with progress is never moved back to restore an order that
is lost already. A repair that brings disorder itself is planned, and you are asked when it is
written: --yes alone does not accept it, --accept disorder does.

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
    """Warning: order by key is certainly broken between the two."""
    effects = [effect for effect in view.harmed(Harm.DISORDERED) if effect.certain]
    what = "read while an ancestor still has unread records, and does not wait for it"
    costs = "records of one key may be processed out of order"
    yield from from_effects(CODE, NAME, effects, what, costs, Severity.WARNING)
