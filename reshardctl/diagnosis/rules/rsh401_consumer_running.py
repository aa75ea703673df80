"""The consumer is running, so nothing is written.

What it is
----------
Not a finding of inspect: fix and undo watch the table before they write, and raise this when a
lease's counter, the leader's lock or a worker's statistics move.

Why it matters
--------------
A running worker reads its position once, when it takes the lease, and overwrites ours at its next
checkpoint. The repair would look done and be undone a moment later.

How it happens
--------------
The application, or one forgotten instance of it, still runs. A finished shard's counter moves too.
An owner's name proves nothing: it stays in the row after a stop.

What the fix writes
-------------------
Nothing: exit 4. Stop every worker, then run the same command again.

    reshardctl fix kcl://TABLE --stream NAME

When the fix is not offered
---------------------------
Until the watch is silent. Silence rules out failover times up to three times its length, and the
message says so. An application with a longer one that you know to be stopped: --assume-stopped is
your word for it, and is kept in the journal.

Example
-------
    1   w1   leaseCounter 4711 → 4713 in 12 s

Seen in the wild
----------------
awslabs/amazon-kinesis-client#461 (rows deleted under running workers: the shard is not read until
they restart).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, View

CODE, NAME = "RSH401", "consumer-running"


def match(_view: View) -> Iterator[Finding]:
    """Nothing: raised by the watch of fix and undo, before they write, exit 4."""
    return iter(())
