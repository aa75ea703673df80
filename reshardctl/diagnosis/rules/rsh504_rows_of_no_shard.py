"""Rows in the sink do not belong to any shard of this stream.

What it is
----------
A row names another stream; its number is older than this stream, so of a deleted stream of the same
name; its shard is newer than the newest listed one; or its shard column names another shard than
the number does.

Why it matters
--------------
Such rows are left out of all other counts. If the sink holds two streams on purpose, they are
harmless; if not, positions may have been used on a stream to which they do not belong.

How it happens
--------------
The stream was deleted and re-created (RSH102), a job was pointed at another stream or region and
kept its sink, or a column was mapped wrongly.

What the fix writes
-------------------
Nothing. Audit each stream separately, with the rows of that stream only, or name the column:

    reshardctl audit SINK --stream NAME --column stream=COLUMN

When the fix is not offered
---------------------------
Always. Rows of an expired shard are as good as any; they just cannot be compared.

Example
-------
    sink     shardId-000000000000   49…02   written three days before the stream was created

Seen in the wild
----------------
awslabs/amazon-kinesis-client#187 and #391 (positions of another stream, taken for this one's).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.facts import Fault
from reshardctl.diagnosis.rules.base import Finding
from reshardctl.diagnosis.rules.sinks import Sink, with_faults

CODE, NAME = "RSH504", "rows-of-no-shard"
WORDS = {
    Fault.OTHER_STREAM: "they name another stream",
    Fault.OTHER_INCARNATION: "their numbers are older than the stream: of an earlier one of its "
    "name",
    Fault.UNKNOWN_SHARD: "their shards are newer than the newest that is listed",
    Fault.NOT_ITS_SHARD: "the column for the shard names another one than the number does",
}
HELPS = "check --stream and --column, or audit each stream by itself"


def match(sink: Sink) -> Iterator[Finding]:
    """One warning for each fault."""
    yield from with_faults(sink, CODE, NAME, WORDS, "they are not counted otherwise", HELPS)
