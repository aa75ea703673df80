"""The open shards do not cover the hash keys exactly once.

What it is
----------
A breach of the listing, not of a table: some hash keys belong to no open shard, or to two. It is
raised while the stream is listed, before any row is judged.

Why it matters
--------------
A shard is missing from the listing, or one too many is in it. Whatever were concluded from it
about positions might be wrong.

How it happens
--------------
A listing of many pages is no snapshot: a reshard between two pages tears it. A client that does
not page at all sees the first 1000 shards only.

What the fix writes
-------------------
Nothing: no plan is made from a listing that contradicts itself. The stream is listed again a few
times; if it does not settle, the exit code is 3. Wait until this says ACTIVE, then run it again:

    aws kinesis describe-stream-summary --stream-name NAME

When the fix is not offered
---------------------------
Always. If it stays on an ACTIVE stream, check that the endpoint is AWS: emulators round hash
ranges in their own way.

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

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, View

CODE, NAME = "RSH103", "hash-range-hole"


def match(_view: View) -> Iterator[Finding]:
    """Nothing: raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3."""
    return iter(())
