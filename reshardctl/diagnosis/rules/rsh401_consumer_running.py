"""The consumer is running, so nothing is written.

What it is
----------
Not a finding of inspect: fix and undo watch the table before they write, and report this if a
lease's counter, the leader's lock or a worker's statistics change.

Why it matters
--------------
A running worker reads its position once, when it takes the lease, and overwrites ours at its next
checkpoint. The repair would seem done and be reverted a moment later.

How it happens
--------------
The application, or a forgotten instance of it, still runs. A finished shard's counter changes too.
An owner's name proves nothing: it stays in the row after a stop.

What the fix writes
-------------------
Nothing: exit 4. Stop every worker, then run the same command again.

    reshardctl fix kcl://TABLE --stream NAME

When the fix is not offered
---------------------------
Until nothing changes during the watch. That rules out failover times up to three times its length,
and the message says so. If an application has a longer one and you know that it is stopped, say so
with --assume-stopped, which the journal records.

Example
-------
    1   w1   leaseCounter 4711 → 4713 in 12 s

Seen in the wild
----------------
awslabs/amazon-kinesis-client#461 (rows deleted under running workers: the shard is not read until
they restart).
"""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import raised_elsewhere

CODE, NAME = "RSH401", "consumer-running"
match = raised_elsewhere
"""Raised by the watch of fix and undo, before they write, exit 4."""
