"""How far a consumer is behind in a shard: in time always, in records where they were read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import Report, askable, case_of
from reshardctl.model import DONE, START, TIP, Count, Cut, Interval, ShardId, Span
from reshardctl.planning.effects import StreamState, has_unread, moment
from reshardctl.planning.plan import processed_frontier


@dataclass(frozen=True, slots=True)
class Lag:
    """What is unread in one shard.

    seconds: age of the oldest unread record at most, least_seconds: at least, both `None` if not
    known. They differ where the position is not certain. Without `measured`, a shard to which
    nothing was written since its position counts as lagging: only reads tell. unread_seconds: the
    stream time from the position to the tip, or to the shard's close. records, size_bytes: what is
    unread, `None` where nothing was read. at_least: there may be more. oldest: Unix seconds at
    which the oldest unread record arrived, where it was read. measured: whether reads tell the lag.
    """

    seconds: float | None = None
    least_seconds: float | None = None
    unread_seconds: float | None = None
    records: int | None = None
    size_bytes: int | None = None
    at_least: bool = False
    oldest: float | None = None
    measured: bool = False


NO_LAG = Lag(0.0, 0.0, 0.0, 0, 0)


class LagMeter:
    """Measures the lag of each shard of one snapshot."""

    def __init__(self, snapshot: Snapshot, state: StreamState) -> None:
        self._snapshot, self._state = snapshot, state

    def lag(self, shard: ShardId, span: Span | None) -> Lag:
        """The lag behind what is certainly processed; unknown of a shard that is not listed."""
        state = self._state
        if shard not in state.lineage or span is None:
            return Lag()
        if not has_unread(state, shard, span.lo):
            return NO_LAG
        since = self._since(shard, span.lo)
        perhaps = self._since(shard, span.hi) if has_unread(state, shard, span.hi) else state.now
        until = moment(state, shard, TIP)
        age = None if since is None else max(0.0, state.now - since)
        least = None if perhaps is None else max(0.0, state.now - perhaps)
        width = None if since is None or until is None else max(0.0, until - since)
        count = self._count(shard, span.lo)
        if count is None:
            return Lag(age, least, width)
        return _measured(count, state.now, age, width)

    def _since(self, shard: ShardId, cut: Cut) -> float | None:
        """When the stream reached a cut. Nothing before the trim horizon can be read."""
        reached = moment(self._state, shard, cut)
        if reached is None or cut != START:
            return reached
        return max(reached, self._state.now - self._state.lineage.stream.retention)

    def _count(self, shard: ShardId, since: Cut) -> Count | None:
        """What reads from this cut have shown: a count, or a probe."""
        for until in (TIP, DONE):
            if (count := self._snapshot.counts.get(Interval(shard, since, until))) is not None:
                return count
        probe = self._snapshot.probes.get(shard)
        if probe is None or probe.silent or probe.since != since:
            return None
        return Count(
            probe.count, probe.more, probe.first_arrival, probe.last_arrival, probe.size_bytes
        )


def _measured(count: Count, now: float, age: float | None, width: float | None) -> Lag:
    if count.records == 0 and not count.at_least:
        return Lag(0.0, 0.0, 0.0, 0, 0, measured=True)
    if count.first_arrival is None:
        return Lag(age, 0.0, width, count.records, count.size_bytes, count.at_least)
    oldest = max(0.0, now - count.first_arrival)
    return Lag(
        oldest, oldest, width, count.records, count.size_bytes, count.at_least,
        count.first_arrival, measured=True,
    )


def unread_intervals(report: Report) -> Iterator[Interval]:
    """The unread records of every shard where they can be read, those of bad shards first."""
    case = case_of(report.snapshot, report.options)
    state, frontier = case.state, processed_frontier(case)
    bad = {shard for finding in report.findings for shard in finding.shards}
    for shard in sorted(state.lineage, key=lambda shard: shard not in bad):
        since = frontier[shard].lo if shard in frontier else DONE
        if askable(since) and has_unread(state, shard, since):
            yield Interval(shard, since, TIP if state.lineage.is_open(shard) else DONE)
