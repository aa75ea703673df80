"""A prepared checkpoint that was never committed.

What it is
----------
A row holds pendingCheckpoint: the application called prepareCheckpoint and did not commit.

Why it matters
--------------
It usually does not. KCL starts at the committed checkpoint and passes the pending one to the
application's initialize(). An application that commits it must be prepared for that.

How it happens
--------------
The worker stopped, or lost the lease, between preparing and committing.

What the fix writes
-------------------
Nothing. If a plan moves the row's position for another reason, it removes the pending checkpoint
with it, which belongs to the old position; undo restores it.

When the fix is not offered
---------------------------
Always.

Example
-------
    0   closed   49…12   pending 49…20

Seen in the wild
----------------
awslabs/amazon-kinesis-client#188 (what it is for), #472 (how the application sees it).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies
from reshardctl.model import AnomalyKind

CODE, NAME = "RSH303", "pending-checkpoint-left"


def match(view: View) -> Iterator[Finding]:
    """Info: the application gets it at its next start."""
    what = "a prepared checkpoint was never committed; the application is told of it"
    anomalies = view.anomalies_of(AnomalyKind.PENDING)
    yield from from_anomalies(CODE, NAME, anomalies, Severity.INFO, what)
