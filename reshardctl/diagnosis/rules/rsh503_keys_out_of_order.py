"""Rows of a partition key came into the sink after later ones of the same key.

What it is
----------
By the column that shows the order of arrival (a batch, an offset, a time of writing): a row comes
after another of the same partition key that is later in the stream, within a shard or across a
parent and its child.

Why it matters
--------------
Kinesis keeps the order of a key, through reshards too, as long as parents are read to their end
before their children. If the newest row is taken for the newest state, it is an old state here.

How it happens
--------------
A child that was read before its parent; records read again after later ones; writers that retry a
batch after the next one. Repeated rows count by their first time.

What the fix writes
-------------------
Nothing: the order of these rows stays. To see whether it happens again, and how to prevent it:

    reshardctl inspect CONSUMER --stream NAME

When the fix is not offered
---------------------------
Always. Sort by sequence number where the sink is read: within a key that is the stream's order.

Example
-------
    0   ─┬─ 2     key k   49…18 (of 0) comes after 49…66 (of 2)
         └─ 3

Seen in the wild
----------------
awslabs/amazon-kinesis-client#150 ("No lease found for shard … Not blocking on completion").
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity
from reshardctl.diagnosis.rules.sinks import Sink, in_order, many

CODE, NAME = "RSH503", "keys-out-of-order"


def match(sink: Sink) -> Iterator[Finding]:
    """One warning over all shards; none if no column shows the order."""
    held = [inside for inside in sink.facts.shards.values() if inside.disordered]
    if held:
        rows = sum(inside.disordered or 0 for inside in held)
        by = f", by {sink.facts.ordered_by}" if sink.facts.ordered_by else ""
        yield Finding(
            CODE, NAME, Severity.WARNING, in_order(sink.lineage, (inside.shard for inside in held)),
            f"{many(rows, 'row')} came after a later record of the same key{by}",
            helps="whether the consumer's next start does it again: reshardctl inspect",
        )
