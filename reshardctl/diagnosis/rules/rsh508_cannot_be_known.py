"""For a part of the stream it cannot be known whether the sink has all of it.

What it is
----------
With the stream: records that have expired, shards that are not listed any more, a read that was cut
short. Their records cannot be compared.

Why it matters
--------------
No finding is no proof. An audit makes a statement about the window that it names, shard by shard,
and no more. If a read failed that others may be allowed, or that may succeed the next time, the
audit exits with 3, whatever --fail-on says.

How it happens
--------------
Always, for a stream that is older than its retention. The sooner the audit is run after a reshard
or a crash, the more can be known.

What the fix writes
-------------------
Nothing. To keep the next weeks comparable (this costs money):

    aws kinesis increase-stream-retention-period --stream-name NAME --retention-period-hours 168

When the fix is not offered
---------------------------
Always. Longer retention keeps what is still there, and restores nothing.

Example
-------
    0   closed    gone            |########|       24 h
    2   open      |##########################| now
                  cannot be known ^ compared

Seen in the wild
----------------
No public report: it says what this audit has not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.coverage import NOT_ASKED, TAKEN, UNLISTED, Unknowable, unknowable
from reshardctl.diagnosis.rules.base import Finding, Severity
from reshardctl.diagnosis.rules.sinks import Sink, in_order

CODE, NAME = "RSH508", "cannot-be-known"
WORDS = {
    TAKEN: "what arrived before the window is gone from the stream: whether the sink missed any of "
    "it cannot be known",
    UNLISTED: "not listed any more: whether the sink missed any of their records cannot be known",
}


def match(sink: Sink) -> Iterator[Finding]:
    """An info for each reason; none if the stream was not read, which the report says by itself."""
    reasons: dict[str, list[Unknowable]] = {}
    for stretch in unknowable(sink.facts, sink.lineage):
        if stretch.why != NOT_ASKED:
            reasons.setdefault(stretch.why, []).append(stretch)
    for why, stretches in reasons.items():
        what = WORDS.get(why, f"not compared: {why}")
        shards = in_order(sink.lineage, (stretch.shard for stretch in stretches))
        yield Finding(CODE, NAME, Severity.INFO, shards, what)
