"""A leader's lock that may outlive its worker.

What it is
----------
The table holds the `Leader` row of KCL 3.5, or the CoordinatorState table that of 3.0 to 3.4: a
worker leads, or was killed while it led. No finding while workers assign leases as 2.x does.

Why it matters
--------------
After a crash no worker leads until the lock is two minutes old, and only the leader assigns leases
without an owner. A correct repair then seems to have no effect for two minutes.

How it happens
--------------
A worker was killed. A graceful stop removes the row. Workers that still assign leases as 2.x does
(`Migration3.0` says CLIENT_VERSION_UPGRADE_FROM_2X or CLIENT_VERSION_2X) have no lock.

What the fix writes
-------------------
Nothing: the row is not a lease. Start the application, wait two minutes, then look whether counters
change:

    reshardctl inspect kcl://TABLE --stream NAME

When the fix is not offered
---------------------------
Always. If no worker leads long after that, deleting the `Leader` row by hand has helped others.

Example
-------
    Leader   ownerName w1   leaseDuration 120000
    2        TRIM_HORIZON, no owner: starts after the lock is over

Seen in the wild
----------------
awslabs/amazon-kinesis-client#1803 (3.4.3: a lock that no worker took over until it was deleted).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_anomalies
from reshardctl.model import AnomalyKind

CODE, NAME = "RSH402", "leader-lock-left"


def match(view: View) -> Iterator[Finding]:
    """Info: after a crash nothing may start for up to two minutes."""
    what = "a leader lock is in place: after a crash nothing starts until it is two minutes old"
    anomalies = view.anomalies_of(AnomalyKind.LEADER_LEFT)
    yield from from_anomalies(CODE, NAME, anomalies, Severity.INFO, what)
