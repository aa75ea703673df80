"""An end mark that is not taken for one.

What it is
----------
The checkpoint is SHARD_END, and checkpointSubSequenceNumber beside it is not 0.

Why it matters
--------------
KCL 2.x and 3.x compare both: to them the row is not finished. They ask Kinesis for the number
"SHARD_END", are refused, and try again for ever; the children wait (RSH213). The audit looks at the
mark alone and sees nothing wrong. KCL 1.x ends the shard properly, and it is info alone.

How it happens
--------------
A hand edit of `checkpoint` alone, on a row whose last record was one of several that the producer
library had packed together.

What the fix writes
-------------------
The sub-sequence number 0, and leases at TRIM_HORIZON for children that have none. On a shard that
is open the mark is wrong as well: TRIM_HORIZON, as for RSH206.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
While the application runs: stop it first. On an open shard, where that re-reads more than is
accepted.

Example
-------
    0   SHARD_END / 5 ─┬─ 2   TRIM_HORIZON, waits for ever
                       └─ 3   TRIM_HORIZON, waits for ever

Seen in the wild
----------------
No public report known. Run on KCL 2.7.2 and 3.5.1, which loop, and on 1.15.3, which mends the row.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, earliest, from_odd, shards_of
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH304", "end-with-subsequence"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard loops on it, and its children wait for ever. Info where it ends it."""
    anomalies = view.oddities(AnomalyKind.END_WITH_SUB)
    fates = view.simulation.fates
    loops = [
        one for one in anomalies
        if one.shard is not None and one.shard in fates
        and fates[one.shard].cause is Cause.BAD_END_MARK
    ]
    if not loops:
        what = "SHARD_END with a sub-sequence number, which this release takes for an end"
        yield from from_odd(CODE, NAME, anomalies, Severity.INFO, what)
        return
    # Only an open shard owes records of its own; a closed one has been read to that mark.
    stalls = view.harmed(Harm.STALLED, Cause.BAD_END_MARK)
    what = "SHARD_END with a sub-sequence number: the consumer asks for it as a number, for ever"
    costs = "the shard never ends, and its children are never read"
    yield Finding(
        CODE,
        NAME,
        Severity.ERROR,
        shards_of(anomalies),
        what,
        costs,
        tuple(stalls),
        earliest(stalls),
    )
