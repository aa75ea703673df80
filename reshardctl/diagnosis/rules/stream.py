"""Rules on the stream and on the look at it: RSH101 to RSH105, RSH401, RSH901.

Most of them are raised elsewhere and end the command: here is their code only.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import (
    Found,
    Severity,
    View,
    earliest,
    elsewhere,
    rule,
    shards_of,
)
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm


@rule("RSH101", "reshard-in-progress")
def reshard_in_progress(view: View) -> Iterator[Found]:
    """Info: the listing was consistent, and may change."""
    if view.lineage.stream.status == "UPDATING":
        what = "the stream is UPDATING: shards may still be split or merged"
        yield Found(Severity.INFO, (), what, helps="look again with --wait 15m")


@rule("RSH102", "stream-recreated")
def stream_recreated(view: View) -> Iterator[Found]:
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
        yield Found(
            Severity.ERROR, shards_of(anomalies), what,
            crashes[0].why if crashes else costs, (*crashes, *stalls), earliest(stalls),
            helps=helps,
        )


# Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3.
elsewhere("RSH103", "hash-range-hole")


# Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3.
elsewhere("RSH104", "open-parent")


# Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3.
elsewhere("RSH105", "closed-without-children")


# Raised by the watch of fix and undo, before they write, exit 4.
elsewhere("RSH401", "consumer-running")


# Raised by any read that failed or came short, exit 3.
elsewhere("RSH901", "could-not-look")
