"""RSH102, see `pages/RSH102.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, earliest, rule, shards_of
from reshardctl.model import AnomalyKind, Cause
from reshardctl.planning.effects import Harm


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
