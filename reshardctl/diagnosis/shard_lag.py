"""How far a consumer is behind, shard by shard: what its positions and the records read tell.

Nothing is estimated. The age of an unread record is known only if that record was read (`--probe`,
`--count`); a position's own age is known from the time in its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import RepairOptions, Report, case_of
from reshardctl.model import DONE, Cut, Rank, ShardId
from reshardctl.planning.effects import StreamState, has_unread, moment
from reshardctl.planning.plan import processed_frontier

NO_UNREAD = float("inf")
"""The arrival of an unread record that is known not to exist."""


@dataclass(frozen=True, slots=True)
class ShardLag:
    """One shard that is not known to be finished.

    position_age: seconds since the time in the stored position, `None` if it holds none.
    oldest_unread: seconds since the oldest unread record arrived, 0 if none is unread, `None` if
    that record was not read. margin: seconds until unread records begin to expire, `None` if
    unknown or none is unread; negative if they may have begun to. expired: whether unread records
    may have expired already.
    """

    shard: ShardId
    position_age: float | None
    oldest_unread: float | None
    margin: float | None
    expired: bool


@dataclass(frozen=True, slots=True)
class Lag:
    """The worst of all shards of a consumer, as far as known; the fields are those of `ShardLag`.

    expired: the number of shards with expired unread records.
    """

    position_age: float | None
    oldest_unread: float | None
    margin: float | None
    expired: int


def shard_lags(report: Report) -> list[ShardLag]:
    """Every listed shard with records that may be unread, parents first.

    Those that are not listed any more follow if they expired with unread records.
    """
    if not report.judged:
        return []
    state = case_of(report.snapshot, report.options).state
    expired, begins = _by_effects(report, state)
    lags = [
        _lag(report.snapshot, state, shard, cut, shard in expired, begins.get(shard))
        for shard, cut in _unfinished(report)
    ]
    gone = sorted(expired - {lag.shard for lag in lags})
    return [*lags, *(ShardLag(shard, None, 0.0, None, True) for shard in gone)]


def worst_lag(lags: Sequence[ShardLag]) -> Lag:
    """The highest ages, the lowest margin. An age of 0 only if that is known of every shard."""
    ages = [lag.oldest_unread for lag in lags]
    known = [age for age in ages if age is not None]
    oldest = max(known, default=0.0)
    return Lag(
        max(_present(lag.position_age for lag in lags), default=None),
        oldest if oldest or len(known) == len(ages) else None,
        min(_present(lag.margin for lag in lags), default=None),
        sum(lag.expired for lag in lags),
    )


def unread_places(report: Report) -> list[tuple[ShardId, Cut]]:
    """Positions whose next record was not read yet and may be: one read tells its arrival."""
    return [
        (shard, cut) for shard, cut in _unfinished(report)
        if cut.rank in (Rank.START, Rank.INSIDE) and not (cut.by_time and cut.time is None)
        and first_unread(report.snapshot, shard, cut) is None
    ]


def first_unread(snapshot: Snapshot, shard: ShardId, cut: Cut) -> float | None:
    """Unix second at which the first record after the cut arrived, `NO_UNREAD` if there is none.

    `None` if that record was not read.
    """
    for probe in (snapshot.first_records.get(shard), snapshot.probes.get(shard)):
        if probe is not None and probe.since == cut and not probe.silent:
            return NO_UNREAD if probe.drained else probe.first_arrival
    arrivals = [
        count.first_arrival for interval, count in snapshot.counts.items()
        if interval.shard == shard and interval.since == cut
    ]
    return min(_present(arrivals), default=None)


def _unfinished(report: Report) -> list[tuple[ShardId, Cut]]:
    if not report.judged:
        return []
    case = case_of(report.snapshot, report.options)
    return [
        (shard, span.lo) for shard, span in processed_frontier(case).items()
        if span.lo != DONE and has_unread(case.state, shard, span.lo)
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


def _lag(
    snapshot: Snapshot, state: StreamState, shard: ShardId, cut: Cut, expired: bool,
    begins: float | None,
) -> ShardLag:
    now, written = snapshot.now, position_time(state, shard, cut)
    age = None if written is None else max(0.0, now - written)
    arrival = first_unread(snapshot, shard, cut)
    if arrival is None:
        return ShardLag(shard, age, None, None if begins is None else begins - now, expired)
    if arrival == NO_UNREAD:
        return ShardLag(shard, age, 0.0, None, expired)
    expires = arrival + state.lineage.stream.retention
    return ShardLag(shard, age, max(0.0, now - arrival), expires - now, expired)


def _by_effects(
    report: Report, state: StreamState
) -> tuple[set[ShardId], dict[ShardId, float]]:
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
    return expired, begins


def _present(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
