"""The sink has records more than once.

What it is
----------
Rows with the same sequence number and the same index inside their aggregate. The first of each
belongs there, the others are counted as surplus rows.

Why it matters
--------------
Sums and counts over the sink are too high. Nothing is lost.

How it happens
--------------
Kinesis and all of its consumers deliver at least once: what was read after the last stored position
is read again at the next start, and after a position was moved back. A producer that retries a put
writes a new record, with another number: that is not counted here.

What the fix writes
-------------------
Nothing. Remove the surplus rows from the sink, or let the query that writes it accept each number
once (a MERGE on shard and number). To list them:

    reshardctl audit SINK --stream NAME --rows DIR

When the fix is not offered
---------------------------
Always. A sink that is meant to hold every delivery has them rightly; by default a warning fails no
job.

Example
-------
    sink     0   49…02  49…18  49…18  49…34      1 row too many

Seen in the wild
----------------
awslabs/amazon-kinesis-client#511 and #572 (old shards processed again).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity
from reshardctl.diagnosis.rules.sinks import Sink, in_order, many

CODE, NAME = "RSH502", "records-doubled"


def match(sink: Sink) -> Iterator[Finding]:
    """One warning over all shards."""
    held = [inside for inside in sink.facts.shards.values() if inside.doubled]
    if held:
        records = sum(inside.doubled for inside in held)
        extra = sum(inside.extra for inside in held)
        is_there = "is" if records == 1 else "are"
        yield Finding(
            CODE, NAME, Severity.WARNING, in_order(sink.lineage, (inside.shard for inside in held)),
            f"{many(records, 'record')} {is_there} in the sink more than once: "
            f"{many(extra, 'row')} too many",
            helps="for a list of them: audit --rows DIR",
        )
