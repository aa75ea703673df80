"""A shard is listed as open although it has a listed child.

What it is
----------
A flaw of the listing: a parent has no ending sequence number, yet a shard names it as its parent.
It is reported while the stream is listed, before any row is judged.

Why it matters
--------------
Either the parent is closed, or the child does not exist yet. A plan would misjudge one of them.

How it happens
--------------
The listing was made during a reshard: its first page shows the parent before it, a later page the
child after it.

What the fix writes
-------------------
Nothing. The stream is listed again a few times; if it stays so, the exit code is 3. Wait until this
says ACTIVE, then run the command again:

    aws kinesis describe-stream-summary --stream-name NAME

When the fix is not offered
---------------------------
Always. KCL meets the same race; its option ignoreUnexpectedChildShards makes it skip such children
until the next synchronisation.

Example
-------
    7   open ─┬─ 12   open
              └─ 13   open      7 cannot be open

Seen in the wild
----------------
awslabs/amazon-kinesis-client#210 and #282.
"""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import raised_elsewhere

CODE, NAME = "RSH104", "open-parent"
match = raised_elsewhere
"""Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3."""
