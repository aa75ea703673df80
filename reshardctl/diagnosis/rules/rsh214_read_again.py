"""Settled records that the next start reads again.

What it is
----------
A shard that was read is started before the place up to which it was read.

Why it matters
--------------
Duplicates, more than the few that a restart always brings. Nothing is lost. The old records run
beside the newer ones of the shard's children.

How it happens
--------------
KCL deletes finished rows. If then one child loses its lease, the audit of an application that does
not start at LATEST re-creates the *parent* from its beginning (or from the application's time) to
get at the child: the parent is read twice for the sake of the child. KCL 1.0–1.13 and 2.0–2.2
re-create every listed ancestor, and the child's sibling waits for them.

kinesis-consumer has no mark for a shard's end: one that was read and lost its row is read again
under TRIM_HORIZON, and only the number of its last record would say that it is done.

kinsumer reads whatever stands in its ShardCache, finished or not, and every listed shard where
there is no cache: a finished shard without a number then begins anew.

Spark's connectors go on where their log says that the newest batch ended. A log that ends before
the batch began (of an earlier run in the same DynamoDB table, or from a backup) has what lies
between the two read again.

What the fix writes
-------------------
For KCL nothing that keeps it from reading the parent: the table cannot tell whether the parent was
read to its end. Where another shard would run ahead of it, the parent gets its lease. For kinsumer
a ShardCache of the unfinished shards. For Spark's connectors a batch from where the newest began.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
While the application runs: stop it first. Where the report says that the plan hangs on the initial
position, name it: 'kcl://TABLE?initial=TRIM_HORIZON'.

Example
-------
    0   no position, was read: again ─┬─ 2   49…17
                                      └─ 3   open, no position

Seen in the wild
----------------
awslabs/amazon-kinesis-client#511 and #572 (old shards processed again).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH214", "read-again"


def match(view: View) -> Iterator[Finding]:
    """Warning: duplicates beyond what the consumer delivers twice anyway."""
    found = [e for e in view.harmed(Harm.REREAD) if e.certain]
    what = "records that were already processed are read again"
    yield from from_effects(CODE, NAME, found, what, "duplicates", Severity.WARNING)
