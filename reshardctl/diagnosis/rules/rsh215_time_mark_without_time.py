"""A row starts by time, but the application has no start time.

What it is
----------
A row says AT_TIMESTAMP, and the application starts at LATEST or TRIM_HORIZON. The time itself is
not stored: KCL takes it from the application's configuration.

Why it matters
--------------
Without it KCL fails on the shard at every attempt: it is not read, and its children wait (RSH213).

How it happens
--------------
The application was first started by time and is configured otherwise now; or the position was
written by hand to move a shard back.

What the fix writes
-------------------
TRIM_HORIZON: the shard's beginning skips nothing, and records before the intended time are read in
addition. For an expired shard, SHARD_END: nothing of it can be read, and KCL would never end it.

    reshardctl fix 'kcl://TABLE?initial=LATEST' --stream NAME --dry-run

When the fix is not offered
---------------------------
If initial= is not given: the position then shows that the application starts by time, and is no
finding. If reading the shard again takes more than the accepted re-read. To keep the time, start
the application with AT_TIMESTAMP once more until the row holds a number.

Example
-------
    1   open   AT_TIMESTAMP     initial=LATEST

Seen in the wild
----------------
awslabs/amazon-kinesis-client#196 and #803 (a time that the lease table overrules, and how people
try to get around it).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH215", "time-mark-without-time"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: the shard cannot be started, and neither can its children."""
    effects = view.harmed(Harm.STALLED, Cause.TIME_WITHOUT_CLOCK)
    what = "is at AT_TIMESTAMP, and the application is not started by time"
    costs = "the consumer fails on it for ever; nothing is read"
    yield from from_effects(CODE, NAME, effects, what, costs)
    gone = tuple(
        shard for shard, fate in view.simulation.fates.items()
        if fate.cause is Cause.TIME_WITHOUT_CLOCK and shard not in view.lineage
    )
    if gone:
        costs = "the shard is gone, but the consumer never ends it, and its children wait"
        yield Finding(CODE, NAME, Severity.ERROR, gone, what, costs)
