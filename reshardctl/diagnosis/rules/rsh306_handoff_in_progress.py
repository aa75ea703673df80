"""A lease is being handed from one worker to another.

What it is
----------
A row has checkpointOwner: KCL 3.x has given the lease to a new worker (leaseOwner) and lets the old
one (checkpointOwner) finish its current work.

Why it matters
--------------
It does not, for a stopped consumer: taking the lease removes the attribute. If it stays for minutes
while the application runs, the shard may not be read.

How it happens
--------------
The leader balanced the load, and the row was read, or the workers were stopped, at that moment.

What the fix writes
-------------------
Nothing. If a plan moves the row for another reason, it removes both owners, as KCL does itself when
it evicts one.

When the fix is not offered
---------------------------
Always. If it stays in a running application, restart the old worker.

Example
-------
    1   open   49…12   leaseOwner w2, checkpointOwner w1

Seen in the wild
----------------
awslabs/amazon-kinesis-client#1743 (a hand-off that never ended), #1401 (3.0.0, multi-stream).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies
from reshardctl.model import AnomalyKind

CODE, NAME = "RSH306", "handoff-in-progress"


def match(view: View) -> Iterator[Finding]:
    """Info: the consumer itself completes or reverts it."""
    what = "a hand-off between two workers is under way, or was when they stopped"
    anomalies = view.anomalies_of(AnomalyKind.HAND_OFF)
    yield from from_anomalies(CODE, NAME, anomalies, Severity.INFO, what)
