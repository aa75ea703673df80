"""Every stored position is older than the stream.

What it is
----------
Each sequence number in the table was written more than a minute before the stream was created: the
rows belong to an earlier stream of the same name, or to another stream. Where the store has the
stream's creation time (Spark's kinesis-lineage), that time is proof enough.

Why it matters
--------------
Shard ids start again at zero, so the rows look right. Kinesis always refuses the old numbers ("did
not come from this stream"), and an old SHARD_END hides a shard that is open now.

How it happens
--------------
The stream was deleted and created again, and the lease table was kept. A single-stream lease table
does not name its stream.

What the fix writes
-------------------
Nothing by itself (exit 4), for a mistyped --stream looks the same: the table may be a healthy one,
of an older stream. Compare what you know of the stream with the answer of

    aws kinesis describe-stream-summary --stream-name NAME

If it was deleted and created again, give the creation time that it tells:

    reshardctl fix kcl://TABLE --stream NAME --recreated CREATION-TIME --dry-run

starts every listed shard at TRIM_HORIZON and deletes rows of shards that do not exist yet. To skip
what is in the stream on purpose, stop the application and delete the table; KCL creates it again.

When the fix is not offered
---------------------------
Without --recreated. If a number is another stream's of this account, or younger than the stream and
none of its own, the table is another stream's: exit 2, and no option changes that. If no row holds
a number, this cannot be known and is not reported.

Example
-------
    stream created  2026-11-21T00:00Z
    0   open   49680104…4946   written 2026-11-20T03:10Z
    1   open   49680104…2082   written 2026-11-20T03:11Z

Seen in the wild
----------------
awslabs/amazon-kinesis-client#187 (a maintainer's warning and the steps), #510;
thingsboard/thingsboard#4498; mhart/kinesalite#55.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, earliest, shards_of
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH102", "stream-recreated"


def match(view: View) -> Iterator[Finding]:
    """Error: the rows belong to an earlier stream of the same name."""
    if view.recreated:
        anomalies = view.anomalies_of(AnomalyKind.EARLIER_INCARNATION)
        what = (
            "every number in the store is older than the stream: it was deleted and made again, or "
            "the store is another stream's"
        )
        costs = "a shard that stands at such a number is never read"
        helps = (
            "check --stream first; only if the stream was deleted and made again, name its "
            "creation time with --recreated to start over"
        )
        stalls = view.harmed(Harm.STALLED, Cause.FOREIGN_NUMBER)
        crashes = view.harmed(Harm.CRASHES, Cause.FOREIGN_NUMBER)
        yield Finding(
            CODE, NAME, Severity.ERROR, shards_of(anomalies), what,
            crashes[0].why if crashes else costs, (*crashes, *stalls), earliest(stalls),
            helps=helps,
        )
