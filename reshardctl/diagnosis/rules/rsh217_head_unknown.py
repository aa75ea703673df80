"""What came before a child's first read may never have been read.

What it is
----------
A child has a position, its application starts shards it does not know at LATEST (or at a time after
the child's birth), and older positions show that the application was at work when it was born.

Why it matters
--------------
Such a child is begun when the library first asks for it: up to half a minute after a reshard, or
once its parent has been drained, or at the start after one that missed the reshard. What was
written to it before that moment is skipped. Its row shows how far it was read, and not from where.

How it happens
--------------
kinesis-consumer's default start mode is LATEST, and it holds for the children of a reshard as well
(runs of v0.5.0 and master 31e0042, November 2026: all twelve records of two children lost).

Spark's connectors begin a shard that they have no place of at the time of the driver's start, where
startingPosition is LATEST: children that were born while the query was down lose what came before
(runs of Qubole's jar and awslabs 1.4.2, November 2026). The offset logs that are kept show it, also
after the shard has a number. Once the log in which it began is purged (minBatchesToRetain, 100),
nothing in the checkpoint shows it any more, and nothing is said: an audit of the sink can tell.

What the fix writes
-------------------
The child's beginning: it is read again from there. The window is in the
report, the records in it can be counted.

    reshardctl inspect LOCATOR --stream NAME --count
    reshardctl fix LOCATOR --stream NAME --dry-run

When the fix is not offered
---------------------------
Where it re-reads more than the --accept reread=… that was given.
Once the records of the window have expired, the finding goes away. Start the application with
TRIM_HORIZON instead: wherever there is a row, the row decides, and children are read whole.

Example
-------
    0   closed, 49…09 ─┬─ 1   49…17: read from somewhere on
                       └─ 2   no position: begins at LATEST

Seen in the wild
----------------
harlow/kinesis-consumer#199 (children begin at the start mode).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH217", "head-unknown"


def match(view: View) -> Iterator[Finding]:
    """Warning: its first records may be missing, and no row shows it."""
    found = [
        e for e in view.harmed(Harm.SKIPPED, Cause.UNMARKED, Cause.HEAD_PASSED)
        if not e.gone and not e.certain
    ]
    what = "begun late, while the application was at work: its first records may be missing"
    costs = "what was written to it before it was first asked for was never read"
    yield from from_effects(CODE, NAME, found, what, costs, Severity.WARNING)
