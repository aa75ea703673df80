"""A closed shard is read to its last record, but its end is not marked.

What it is
----------
The shard closed more than five minutes ago. Its row holds a position, not its end, and a read from
there found nothing left (--probe).

Why it matters
--------------
Its children wait for that end; if a consumer's children do not wait (Spark's connectors, Quickwit),
it is not reported. A consumer that stores the end itself loses nothing. An application that never
does makes the children wait after every start.

How it happens
--------------
The application does not checkpoint when a shard ends: shardEnded in KCL 2 and 3, shutdown with the
reason TERMINATE in 1.x; or that checkpoint always fails. Or the consumer was stopped just before
the end: then the next start stores the end, and the finding disappears.

What the fix writes
-------------------
With --probe: the end, and rows for children without one, in one transaction. The application's own
work at a shard's end (such as a flush) is not done for this shard.

    reshardctl fix kcl://TABLE --stream NAME --probe --dry-run

If the application does not checkpoint at a shard's end, repair that as well: the finding returns at
the next reshard.

When the fix is not offered
---------------------------
Without --probe: nothing in a table shows that a shard is drained, and no end is marked on a guess.
While the consumer runs: stop it first, or watch it with inspect --watch.

Example
-------
    0   closed 3h ago, read to its last record ─┬─ 2   no position: waits for 0
                                                └─ 3   no position: waits for 0

Seen in the wild
----------------
awslabs/amazon-kinesis-client#211 and #1733, Graylog2/graylog-plugin-aws#102 (no checkpoint at the
end of a shard).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.planning.drained import drained_unended

CODE, NAME = "RSH216", "drained-not-ended"


def match(view: View) -> Iterator[Finding]:
    """Warning: the children wait for an end that should be stored, as a read shows."""
    if shards := drained_unended(view.state, view.simulation):
        yield Finding(
            CODE, NAME, Severity.WARNING, tuple(shards),
            "closed and read to the last record, but not marked as ended",
            "the children wait for that end; if the application never sets it, they wait again "
            "after every reshard",
            helps="if it returns, the application does not checkpoint when a shard ends",
        )
