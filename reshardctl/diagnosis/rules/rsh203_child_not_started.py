"""The parents have ended, and nothing will ever start the child.

What it is
----------
A shard has no lease, and KCL will not create one, however long it runs or how often it is
restarted.

Why it matters
--------------
The shard is never read, and its records expire unread. All other shards are read, so the only sign
is the lag of a part of the keys.

How it happens
--------------
KCL 1.14–1.15 and 2.3 or later create the leases of children when they end the parent, and never
later. (1.0–1.13 and 2.0–2.2 create what open shards need at every start.) If a parent was marked
SHARD_END by something else, or a child's row was deleted, KCL's hash-range auditor reports the hole
every two minutes ("Number of new leases to create: 0"), but takes the finished parent's row for a
lease that will still create it. A row with wrong hash keys hides the hole from the auditor, and so
does a copy of the lost row under a key that is no shard's id (RSH302); a row without checkpoint
makes every audit throw.

What the fix writes
-------------------
A lease for the shard at TRIM_HORIZON, with its parents and hash keys. Nothing is skipped.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
While the application runs: stop it first, or add --live where the plan says that all writes are
safe. If the shard would be read beside an ancestor with unread records, the plan says that it reads
out of order, and --yes alone does not accept it: let the ancestor be read first, or add --accept
disorder. To skip the backlog on purpose, --policy latest-at-start shows what that costs.

Example
-------
    7 ─ end ─┬─ 12   open, no position
             └─ 13   open, no position

Seen in the wild
----------------
awslabs/amazon-kinesis-client#339, #185 and #837 (shards not read after a reshard).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, View, from_effects
from reshardctl.diagnosis.rules.families import below_a_row, is_open, waits_for_a_parent
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH203", "child-not-started"


def match(view: View) -> Iterator[Finding]:
    """Error: the child is never read, however long the consumer runs."""
    effects = [
        e for e in view.harmed(Harm.STALLED, Cause.NO_POSITION)
        if (is_open(view, e.shard) or below_a_row(view, e.shard))
        and not e.by and not waits_for_a_parent(view, e.shard)
    ]
    what = "there is no position, and nothing will ever make one"
    if any(e.shard in view.lineage and view.lineage[e.shard].parents for e in effects if e.shard):
        what = f"the parents have ended, {what}"
    costs = "never read; the records expire unread"
    yield from from_effects(CODE, NAME, effects, what, costs)
