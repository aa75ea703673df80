"""How far a consumer is behind in each shard: in time always, in records where they were read.

Nothing is estimated. A position tells a bound: the next record may be as old as the position. Only
a record that was read (`--probe`, `--count`) tells when it arrived.

When unread records expire if a running consumer goes on so: Two looks tell how much of the stream
was read in between. A shard counts only if a record was read that was unread at both of them: a
position that stands still may belong to an idle shard.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.model import DONE, START, TIP, Count, Cut, Interval, Rank, ShardId, Span, short
from reshardctl.model.phrases import listed_shards
from reshardctl.model.times import duration, instant
from reshardctl.planning.case import Case, processed_frontier
from reshardctl.planning.effects import StreamState, has_unread, moment
from reshardctl.report.counts import count_of
from reshardctl.report.report import RepairOptions, Report, askable, case_of

NO_UNREAD = float("inf")
"""The arrival of an unread record that is known not to exist."""


class Lag(Struct, frozen=True):
    """What is unread in one shard, or the worst of several.

    seconds: age of the oldest unread record at most, least_seconds: at least, both `None` if not
    known. They differ where the position is not certain. Without `measured`, a shard to which
    nothing was written since its position counts as lagging: only reads tell. unread_seconds: the
    stream time from the position to the tip, or to the shard's close. records, size_bytes: what is
    unread, `None` where nothing was read. at_least: there may be more. oldest: Unix seconds at
    which the oldest unread record arrived, where it was read. measured: whether reads tell the lag.
    position_age: seconds since the time in the stored position, `None` if it holds none. margin:
    seconds until unread records begin to expire, `None` if unknown or none is unread; negative if
    they may have begun to. expired: the number of shards with unread records that may have expired.
    """

    seconds: float | None = None
    least_seconds: float | None = None
    unread_seconds: float | None = None
    records: int | None = None
    size_bytes: int | None = None
    at_least: bool = False
    oldest: float | None = None
    measured: bool = False
    position_age: float | None = None
    margin: float | None = None
    expired: int = 0

    @property
    def measured_seconds(self) -> float | None:
        """Age of the oldest unread record, 0 if none is unread; `None` if it was not read."""
        return self.seconds if self.measured else None


NO_LAG = Lag(0.0, 0.0, 0.0, 0, 0)


class LagMeter:
    """Measures the lag of each shard of one report, measured against its case."""

    def __init__(self, report: Report, case: Case) -> None:
        self._state = case.state
        self._reads = reads_of(report.snapshot)
        self._expired, self._begins = _by_effects(report, case.state)

    @property
    def expired(self) -> frozenset[ShardId]:
        """Shards of which unread records may have expired, also those not listed any more."""
        return self._expired

    def lag(self, shard: ShardId, span: Span | None) -> Lag:
        """The lag behind what is certainly processed; unknown of a shard that is not listed."""
        state = self._state
        if shard not in state.lineage or span is None:
            return Lag()
        if not has_unread(state, shard, span.lo):
            return NO_LAG
        lag = self._unread(shard, span)
        return replace(
            lag,
            position_age=_age(state.now, position_time(state, shard, span.lo)),
            margin=self._margin(shard, lag),
            expired=int(shard in self._expired),
        )

    def _unread(self, shard: ShardId, span: Span) -> Lag:
        """What is unread of a shard in which something may be."""
        state = self._state
        since, until = self._since(shard, span.lo), moment(state, shard, TIP)
        age = _age(state.now, since)
        width = None if since is None or until is None else max(0.0, until - since)
        count = self._reads.get((shard, span.lo))
        if count is None:
            return Lag(age, self._least(shard, span.hi), width)
        arrival = _arrival(count)
        if arrival == NO_UNREAD:
            return replace(NO_LAG, measured=True)
        least = 0.0
        if arrival is not None:
            age = least = max(0.0, state.now - arrival)
        return Lag(
            age, least, width, count.records, count.size_bytes, count.at_least, arrival,
            measured=arrival is not None,
        )

    def _least(self, shard: ShardId, perhaps: Cut) -> float | None:
        """The age of the oldest unread record if all that may be processed is processed."""
        state = self._state
        if not has_unread(state, shard, perhaps):
            return 0.0
        return _age(state.now, self._since(shard, perhaps))

    def _since(self, shard: ShardId, cut: Cut) -> float | None:
        """When the stream reached a cut. Nothing before the trim horizon can be read."""
        reached = moment(self._state, shard, cut)
        if reached is None or cut != START:
            return reached
        return max(reached, self._state.now - self._state.lineage.stream.retention)

    def _margin(self, shard: ShardId, lag: Lag) -> float | None:
        """By the record that was read, or else as the report's findings say."""
        if not lag.measured:
            begins = self._begins.get(shard)
            return None if begins is None else begins - self._state.now
        if lag.oldest is None:
            return None
        return lag.oldest + self._state.lineage.stream.retention - self._state.now


Reads = Mapping[tuple[ShardId, Cut], Count]


def reads_of(snapshot: Snapshot) -> Reads:
    """What reads have met, by shard and by the cut after which they began.

    Of several reads from one cut the one that tells most: a count of all, a probe, the first record
    alone, a count of a part that has a record.
    """
    whole, part = {}, {}
    for interval, count in snapshot.counts.items():
        key = interval.shard, interval.since
        if interval.until in (TIP, DONE):
            whole[key] = count
        elif count.first_arrival is not None:
            part[key] = dataclasses.replace(count, at_least=True)
    first, probed = (
        {(shard, probe.since): count_of(probe) for shard, probe in probes.items()
         if not probe.silent}
        for probes in (snapshot.first_records, snapshot.probes)
    )
    return part | first | probed | whole


def first_unread(reads: Reads, shard: ShardId, cut: Cut) -> float | None:
    """Unix second at which the first record after the cut arrived, `NO_UNREAD` if there is none.

    `None` if that record was not read.
    """
    count = reads.get((shard, cut))
    return None if count is None else _arrival(count)


def _arrival(count: Count) -> float | None:
    return count.first_arrival if count.records or count.at_least else NO_UNREAD


def lags_of(report: Report) -> list[tuple[ShardId, Lag]]:
    """Every listed shard with records that may be unread, parents first.

    Those that are not listed any more follow if they expired with unread records.
    """
    if not report.judged:
        return []
    case = case_of(report.snapshot, report.options)
    meter = LagMeter(report, case)
    lags = [(shard, meter.lag(shard, span)) for shard, span in _unfinished(case)]
    gone = sorted(meter.expired - {shard for shard, _ in lags})
    return [*lags, *((shard, Lag(0.0, measured=True, expired=1)) for shard in gone)]


def worst_of(lags: Iterable[Lag]) -> Lag:
    """The highest ages, the lowest margin. An age of 0 only if that is known of every shard."""
    lags = list(lags)
    known = _present(lag.measured_seconds for lag in lags)
    oldest = max(known, default=0.0)
    measured = bool(oldest) or len(known) == len(lags)
    return Lag(
        oldest if measured else None, measured=measured,
        position_age=max(_present(lag.position_age for lag in lags), default=None),
        margin=min(_present(lag.margin for lag in lags), default=None),
        expired=sum(lag.expired for lag in lags),
    )


def unread_intervals(report: Report) -> Iterator[Interval]:
    """The unread records of every shard, those of shards with a finding first.

    Left out are positions from which no read can begin (`askable`).
    """
    case = case_of(report.snapshot, report.options)
    bad = {shard for finding in report.findings for shard in finding.shards}
    for shard, span in sorted(_unfinished(case), key=lambda item: item[0] not in bad):
        if askable(span.lo):
            yield Interval(shard, span.lo, TIP if case.state.lineage.is_open(shard) else DONE)


def unread_places(report: Report) -> list[tuple[ShardId, Cut]]:
    """Positions whose next record was not read yet and may be: one read tells its arrival."""
    if not report.judged:
        return []
    reads = reads_of(report.snapshot)
    return [
        (shard, span.lo) for shard, span in _unfinished(case_of(report.snapshot, report.options))
        if askable(span.lo) and first_unread(reads, shard, span.lo) is None
    ]


def _unfinished(case: Case) -> list[tuple[ShardId, Span]]:
    """What is processed of each listed shard with records that may be unread, parents first."""
    frontier, state = processed_frontier(case), case.state
    return [
        (shard, frontier[shard]) for shard in state.lineage
        if shard in frontier and has_unread(state, shard, frontier[shard].lo)
    ]


def position_time(state: StreamState, shard: ShardId, cut: Cut) -> float | None:
    """Unix second in the stored position; `None` for TRIM_HORIZON, LATEST and the like."""
    return moment(state, shard, cut) if cut.rank is Rank.INSIDE else None


def position_times(snapshot: Snapshot) -> dict[ShardId, float]:
    """Unix second in the position of every unfinished shard that has one."""
    case = case_of(snapshot, RepairOptions())
    times = {
        shard: position_time(case.state, shard, span.lo)
        for shard, span in processed_frontier(case).items()
    }
    return {shard: time for shard, time in times.items() if time is not None}


def _by_effects(
    report: Report, state: StreamState
) -> tuple[frozenset[ShardId], dict[ShardId, float]]:
    """Shards with expired unread records, and when loss begins, as the report's findings say."""
    expired: set[ShardId] = set()
    begins: dict[ShardId, float] = {}
    for effect in (effect for judged in report.judged for effect in judged.effects):
        if effect.shard is None:
            continue
        starts = effect.deadline.starts if effect.deadline is not None else None
        if effect.gone:
            expired.add(effect.shard)
            written = moment(state, effect.shard, effect.since)
            starts = None if written is None else written + state.lineage.stream.retention
        if starts is not None:
            begins[effect.shard] = min(starts, begins.get(effect.shard, starts))
    return frozenset(expired), begins


def _age(now: float, since: float | None) -> float | None:
    return None if since is None else max(0.0, now - since)


def _present(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


NOISE = 5.0
"""Seconds by which reading must be slower than time: numbers carry whole seconds, and arrive up to
three seconds later."""
NAMED = 5
"""Shards that are named before the rest are counted."""


class Look(Struct, frozen=True):
    """Where a consumer was. at: Unix seconds. positions: Unix second in the position of a shard."""

    at: float
    positions: Mapping[ShardId, float]


class Behind(Struct, frozen=True):
    """A shard that falls behind.

    read: seconds of the stream that were read between the looks. expires: Unix second at which
    unread records begin to expire at this rate.
    """

    shard: ShardId
    read: float
    expires: float


def look_at(snapshot: Snapshot) -> Look:
    """The first of two looks."""
    return Look(snapshot.now, position_times(snapshot))


def slower_places(report: Report, first: Look) -> list[tuple[ShardId, Cut]]:
    """Positions that moved more slowly than time, where the next record was not read yet."""
    processed = processed_frontier(case_of(report.snapshot, RepairOptions()))
    reads = reads_of(report.snapshot)
    return [
        (shard, processed[shard].lo) for shard, _ in _slower(report.snapshot, first)
        if shard in report.snapshot.lineage
        and first_unread(reads, shard, processed[shard].lo) is None
    ]


def falling_behind(report: Report, first: Look) -> list[Behind]:
    """The shards that fall behind, the first to lose a record first.

    Nothing of a consumer that did not move at all: it may be stopped. What stood still during a
    watch is a finding of its own, RSH403.
    """
    snapshot, elapsed = report.snapshot, report.snapshot.now - first.at
    slower = list(_slower(snapshot, first))
    if snapshot.watched is None and not _moved(snapshot, first):
        return []
    processed = processed_frontier(case_of(snapshot, RepairOptions()))
    reads = reads_of(snapshot)
    keep, behind = snapshot.lineage.stream.retention, []
    for shard, read in slower:
        arrival = first_unread(reads, shard, processed[shard].lo)
        if arrival is not None and arrival < first.at:
            left = arrival + keep - snapshot.now
            grows = 1 - read / elapsed
            behind.append(Behind(shard, read, snapshot.now + left / grows))
    return sorted(behind, key=lambda slow: (slow.expires, slow.shard))


def with_pace(report: Report, first: Look) -> Report:
    """The same report; its `pace` says what falls behind."""
    behind = falling_behind(report, first)
    if not behind:
        return report
    worst, elapsed = behind[0], report.snapshot.now - first.at
    shards = listed_shards([slow.shard for slow in behind], NAMED)
    few = f"{shards} fall{'s' if len(behind) == 1 else ''}"
    return replace(report, pace=(
        f"{few} behind: in {duration(elapsed)} the consumer read {duration(worst.read)} of "
        f"{short(worst.shard)}; at this rate unread records expire at {instant(worst.expires)}"
    ))


def _slower(snapshot: Snapshot, first: Look) -> Iterator[tuple[ShardId, float]]:
    """Shards whose position moved by less than the time between the looks, and by how much."""
    elapsed = snapshot.now - first.at
    least = 0 if snapshot.watched is None else 1
    for shard, time in position_times(snapshot).items():
        read = time - first.positions.get(shard, time)
        if shard in first.positions and least <= read < elapsed - NOISE:
            yield shard, read


def _moved(snapshot: Snapshot, first: Look) -> bool:
    times = position_times(snapshot)
    return any(times.get(shard, time) > time for shard, time in first.positions.items())
