"""Rows in the sink have no readable sequence number.

What it is
----------
The column for the number is null or empty, holds no number, or a number that does not have 56
digits. (For an emulator's stream, whose own numbers are shorter or longer, that is no fault.)

Why it matters
--------------
It cannot be known which record such a row is. It may be one that is counted as missing.

How it happens
--------------
Rows of another source in the same table, a column that was added later, numbers that were converted
to floating point (4.96E55), a wrong column.

What the fix writes
-------------------
Nothing. Look at them, or name the right column:

    reshardctl audit SINK --stream NAME --rows DIR
    reshardctl audit SINK --stream NAME --column number=COLUMN

When the fix is not offered
---------------------------
Always.

Example
-------
    sequence_number   4.9632E55     digits are lost: no record has this number

Seen in the wild
----------------
No public report known of such a sink. boto/boto3#1478 shows how long a true number is.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.facts import Fault
from reshardctl.diagnosis.rules.base import Finding
from reshardctl.diagnosis.rules.sinks import Sink, with_faults

CODE, NAME = "RSH509", "rows-unreadable"
WORDS = {
    Fault.NO_NUMBER: "they have no sequence number",
    Fault.NOT_NUMERIC: "what stands for the sequence number is no number",
    Fault.ODD_LENGTH: "the value for the sequence number does not have the 56 digits of one",
}
COSTS = "they may be records that count as missing otherwise"
HELPS = "for a list of them: audit --rows DIR; another column: --column number=COLUMN"


def match(sink: Sink) -> Iterator[Finding]:
    """One warning for each fault."""
    yield from with_faults(sink, CODE, NAME, WORDS, COSTS, HELPS)
