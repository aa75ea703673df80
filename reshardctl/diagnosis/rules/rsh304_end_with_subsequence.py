"""RSH304, see `pages/RSH304.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import (
    Found,
    Severity,
    View,
    earliest,
    of_anomalies,
    rule,
    shards_of,
)
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm


@rule("RSH304", "end-with-subsequence")
def end_with_subsequence(view: View) -> Iterator[Found]:
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
        yield from of_anomalies(anomalies, Severity.INFO, what)
        return
    # Only an open shard has unread records; a closed one has been read to its end.
    stalls = view.harmed(Harm.STALLED, Cause.BAD_END_MARK)
    what = "SHARD_END with a sub-sequence number: the consumer asks for it as a number, for ever"
    costs = "the shard never ends, and its children are never read"
    yield Found(
        Severity.ERROR,
        shards_of(anomalies),
        what,
        costs,
        tuple(stalls),
        earliest(stalls),
    )
