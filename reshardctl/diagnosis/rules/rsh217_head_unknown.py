"""A child's records before its first read may have been skipped.

What it is
----------
A child has a position, its application starts unknown shards at LATEST (or at a time after the
child's creation), and older positions show that the application ran when the child was created.

Why it matters
--------------
Such a child begins when the library first asks for it: up to half a minute after a reshard, or once
its parent is drained, or at the start after one that missed the reshard. Records written to it
before that are skipped. Its row shows how far it was read, but not from where.

How it happens
--------------
kinesis-consumer's default start mode is LATEST, and it holds for the children of a reshard as well
(runs of v0.5.0 and master 31e0042, November 2026: all twelve records of two children lost).

Spark's connectors begin a shard without a position at the time of the driver's start, if
startingPosition is LATEST: children created while the query was down lose earlier records (runs of
Qubole's jar and awslabs 1.4.2, November 2026). The retained offset logs show it, even after the
shard has a number. Once the log in which it began is purged (minBatchesToRetain, 100), nothing in
the checkpoint shows it, and it is not reported; an audit of the sink can find it.

What the fix writes
-------------------
Spark: the child's beginning, whose new batch shows that it was read. kinesis-consumer: nothing. A
child that a fix began at its start and that was read whole leaves the very same row, and a fix that
set it back would do so after every run. If its records are missing, read it again by name, once:

    reshardctl inspect LOCATOR --stream NAME --count
    reshardctl fix LOCATOR --stream NAME --set SHARD=TRIM_HORIZON --dry-run

When the fix is not offered
---------------------------
If it re-reads more than the --accept reread=… that was given. Once the records of the window have
expired, the finding disappears. Start the application with TRIM_HORIZON instead: a shard with a row
continues from it, and children are read from their beginning.

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
HELPS = (
    "A child that a fix began at its start looks the same, and misses nothing. If records are "
    "missing, fix --set SHARD=TRIM_HORIZON reads it again, once"
)


def match(view: View) -> Iterator[Finding]:
    """Warning: its first records may be missing, and no row shows it."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.HEAD_PASSED)
        if not e.gone and not e.certain
    ]
    what = "begun late, while the application was at work: its first records may be missing"
    costs = "what was written to it before it was first asked for was never read"
    helps = HELPS if all(effect.past for effect in effects) else ""
    yield from from_effects(CODE, NAME, effects, what, costs, Severity.WARNING, helps)
