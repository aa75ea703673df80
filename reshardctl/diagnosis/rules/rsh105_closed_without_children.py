"""A shard is closed, and its listed children do not cover its hash keys.

What it is
----------
A flaw of the listing: a shard has ended, so its keys must have gone to children, and a child is not
listed. It is reported while the stream is listed, before any row is judged.

Why it matters
--------------
The missing child holds records that no plan would include.

How it happens
--------------
The listing was made during a reshard: the parent is closed already, a child is not listed yet.

What the fix writes
-------------------
Nothing. The stream is listed again a few times; if it stays so, the exit code is 3. Wait until this
says ACTIVE, then run the command again:

    aws kinesis describe-stream-summary --stream-name NAME

When the fix is not offered
---------------------------
Always. Expiry is never the cause: a parent closes before its children, so it leaves the listing
before them.

Example
-------
    7   closed ─┬─ 12   open         0 – 1/4
                └─ ?    not listed   1/4 – 1/2

Seen in the wild
----------------
awslabs/amazon-kinesis-client#164; awslabs/amazon-kinesis-scaling-utils#72 (children absent from
the listing right after a split).
"""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import raised_elsewhere

CODE, NAME = "RSH105", "closed-without-children"
match = raised_elsewhere
"""Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3."""
