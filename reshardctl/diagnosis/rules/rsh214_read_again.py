"""The next start reads processed records again.

What it is
----------
A shard starts before the position up to which it was read.

Why it matters
--------------
Duplicates, more than the few that every restart brings. Nothing is lost. The old records are read
beside the newer ones of the shard's children.

How it happens
--------------
KCL deletes finished rows. If one child then loses its lease, the hash-range auditor of an
application that does not start at LATEST re-creates the *parent* at its beginning (or at the
application's time) to restore the child, so the parent is read twice. KCL 1.0–1.13 and 2.0–2.2
re-create every listed ancestor, and the child's sibling waits for them.

kinesis-consumer has no mark for a shard's end: a shard that was read and lost its row is read again
under TRIM_HORIZON; only the number of its last record would show that it is processed.

kinsumer reads every shard in its ShardCache, finished or not, and every listed shard if there is no
cache: a finished shard without a number then begins again.

Spark's connectors continue where their log says that the newest batch ended. If that is before the
batch began (a log of an earlier run in the same DynamoDB table, or from a backup), the records in
between are read again.

What the fix writes
-------------------
For KCL nothing prevents it from reading the parent: the table does not show whether the parent was
read to its end. If another shard would be read before it, the parent gets its lease. For kinsumer,
a ShardCache of the unfinished shards. For Spark's connectors, a batch from where the newest began.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
While the application runs: stop it first, or add --live where the plan says that all writes are
safe. If the report says that the plan depends on the initial position, name it:
'kcl://TABLE?initial=TRIM_HORIZON'.

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
    effects = [e for e in view.harmed(Harm.REREAD) if e.certain]
    what = "records that were already processed are read again"
    yield from from_effects(CODE, NAME, effects, what, "duplicates", Severity.WARNING)
