"""The sink changed while it was read.

What it is
----------
Files were added, removed or overwritten between the beginning of the audit and its end.

Why it matters
--------------
An audit reads the sink more than once. Rows that came in between are in one count and not in
another: what is missing may be there by now, what is repeated may be one row read twice.

How it happens
--------------
The consumer runs, or a compaction or retention job works on the table. A table with versions (Delta
Lake, Iceberg) is read at one of them, and does not change.

What the fix writes
-------------------
Nothing. Stop the writers, or compare a window in the past, and run it again:

    reshardctl audit SINK --stream NAME --until=-1h

When the fix is not offered
---------------------------
Always. reshardctl rebuild refuses such a sink.

Example
-------
    06:10:02   412 files
    06:14:40   415 files      3 new ones

Seen in the wild
----------------
No public report known.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity
from reshardctl.diagnosis.rules.sinks import Sink

CODE, NAME = "RSH510", "sink-changed-while-read"


def match(sink: Sink) -> Iterator[Finding]:
    """One warning."""
    if sink.facts.changed:
        yield Finding(
            CODE, NAME, Severity.WARNING, (),
            f"the sink changed while it was read: {sink.facts.changed}",
            "counts of this report may contradict each other",
            helps="stop what writes to it, and audit it again",
        )
