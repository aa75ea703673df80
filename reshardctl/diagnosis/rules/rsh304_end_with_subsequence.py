"""A SHARD_END does not count as one.

What it is
----------
The checkpoint is SHARD_END, and checkpointSubSequenceNumber beside it is not 0.

Why it matters
--------------
KCL 2.x and 3.x compare both: to them the row is not finished. They ask Kinesis for the number
"SHARD_END", are refused, and retry for ever; the children wait (RSH213). The hash-range auditor
looks only at SHARD_END and reports nothing. KCL 1.x ends the shard properly, so it is only info.

How it happens
--------------
A hand edit of `checkpoint` alone, on a row whose last record was part of an aggregated record of
the producer library.

What the fix writes
-------------------
The sub-sequence number 0, and leases at TRIM_HORIZON for children without one. On an open shard
SHARD_END is wrong as well: TRIM_HORIZON, as for RSH206.

    reshardctl fix kcl://TABLE --stream NAME --dry-run

When the fix is not offered
---------------------------
While the application runs: stop it first, or add --live where the plan says that all writes are
safe. On an open shard, if that re-reads more than is accepted.

Example
-------
    0   SHARD_END / 5 ─┬─ 2   TRIM_HORIZON, waits for ever
                       └─ 3   TRIM_HORIZON, waits for ever

Seen in the wild
----------------
No public report known. Run on KCL 2.7.2 and 3.5.1, which loop, and on 1.15.3, which repairs the
row.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import (
    Finding,
    Severity,
    View,
    earliest,
    from_anomalies,
    shards_of,
)
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH304", "end-with-subsequence"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard never ends, its children wait for ever; info where the release ends it."""
    anomalies = view.anomalies_of(AnomalyKind.END_WITH_SUB)
    fates = view.simulation.fates
    loops = [
        anomaly for anomaly in anomalies
        if anomaly.shard is not None and anomaly.shard in fates
        and fates[anomaly.shard].cause is Cause.BAD_END_MARK
    ]
    if not loops:
        what = "SHARD_END with a sub-sequence number, which this release takes for an end"
        yield from from_anomalies(CODE, NAME, anomalies, Severity.INFO, what)
        return
    # Only an open shard has unread records; a closed one has been read to its end.
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
