"""The open shards do not cover the hash keys exactly once.

What it is
----------
A flaw of the listing, not of a table: some hash keys belong to no open shard, or to two. It is
reported while the stream is listed, before any row is judged.

Why it matters
--------------
A shard is missing from the listing, or there is one too many. Any conclusion about positions might
be wrong.

How it happens
--------------
A listing of many pages is no snapshot: a reshard between two pages makes it inconsistent. A client
that does not page sees only the first 1000 shards.

What the fix writes
-------------------
Nothing: no plan is made from an inconsistent listing. The stream is listed again a few times; if it
stays so, the exit code is 3. Wait until this says ACTIVE, then run the command again:

    aws kinesis describe-stream-summary --stream-name NAME

When the fix is not offered
---------------------------
Always. If an ACTIVE stream stays so, check that the endpoint is AWS: emulators round hash ranges
differently.

Example
-------
    0 ─┬─ 2   open         0 – 1/4
       └─ ?   not listed   1/4 – 1/2
    1         open         1/2 – 1

Seen in the wild
----------------
warpstreamlabs/bento#531 (500 of 1500 shards unseen for a day); getmoto/moto#9909 (an emulator's
last hash key, which KCL refuses as "incomplete").
"""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import raised_elsewhere

CODE, NAME = "RSH103", "hash-range-hole"
match = raised_elsewhere
"""Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3."""
