"""Rows of other kinds beside the positions.

What it is
----------
The lease table holds rows that are no leases: KCL 3.5 keeps its leader's lock, the state of its
migration and its workers' statistics there (entityType LEADER, CLIENT_VERSION_MIGRATION,
WORKER_METRIC_STATS, ...).

Why it matters
--------------
For 3.5 they are normal: info. An older release cannot read them and dies at its start: error, and
nothing at all is read.

How it happens
--------------
An upgrade to 3.5 that was rolled back by deploying the older release alone.

What the fix writes
-------------------
Nothing, ever: only leases are ours to write, and other rows are not touched or deleted.

When the fix is not offered
---------------------------
Always. The ways out: start the application with KCL 3.5 or later again, or follow AWS's rollback
procedure, which takes those rows away. Say which release starts, and it is judged for that one:

    reshardctl inspect 'kcl://TABLE?release=2.7.2' --stream NAME

Example
-------
    Leader         LEADER
    Migration3.0   CLIENT_VERSION_MIGRATION
    2              49…17                        a lease

Seen in the wild
----------------
awslabs/amazon-kinesis-client#1791 (3.5.0 itself failed on them in multi-stream tables; #1792).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View

CODE, NAME = "RSH302", "foreign-entry"


def match(view: View) -> Iterator[Finding]:
    """Info; an error where the starting release dies of them."""
    odd = view.oddities(Oddity.FOREIGN_ENTRY)
    if not odd:
        return
    dies = [] if view.oddities(Oddity.UNREADABLE) else view.harmed(Harm.DIES)
    severity = Severity.ERROR if dies else Severity.INFO
    kinds = ", ".join(dict.fromkeys(o.raw for o in odd))
    yield Finding(
        CODE, NAME, severity, (), f"rows that are no positions ({kinds}); they are never touched",
        dies[0].why if dies else "", tuple(dies),
    )
