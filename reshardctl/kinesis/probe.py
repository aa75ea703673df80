"""Bounded reads of shards: probes, counts, and positions at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from reshardctl.kinesis.budget import (
    NO_LIMIT,
    PACE,
    Allowance,
    Beyond,
    Budget,
    Limits,
    Look,
    Met,
    Pace,
    Tally,
    never,
)
from reshardctl.kinesis.target import Target
from reshardctl.kinesis.transport import Transport
from reshardctl.kinesis.walk import End, Walk, Walker
from reshardctl.model import (
    START,
    Count,
    Cut,
    Interval,
    PositionAtTime,
    Probe,
    Rank,
    ShardId,
    at_number,
    at_time,
)
from reshardctl.model.cuts import ARRIVAL_SLACK

PROBED_RECORDS = 100
"""Most records of a shard that a probe reads: enough to tell a leftover from a backlog."""
PROBED_READS = 20
"""Most reads of a shard that a probe makes: an idle shard answers with empty pages."""
MARGINS = (10.0, 60.0, 600.0, 3600.0, 6 * 3600.0)
"""Seconds before the time from which a walk starts; the next one is used if nothing was read from
the last."""

__all__ = ["PACE", "Prober"]


class Prober:
    """Reads records of streams, each shard at most once in PACE seconds."""

    def __init__(
        self, transport: Transport, clock: Callable[[], float], limits: Limits | None, look: Look
    ) -> None:
        self._transport, self._clock = transport, clock
        self._limits = limits or Limits()
        self._look = look
        self._pace = Pace(clock)

    def probe(
        self, target: Target, shard: ShardId, since: Cut, limit_records: int, limit_calls: int
    ) -> Probe:
        """Does what `Kinesis.probe` says."""
        budget = Budget(Allowance(1, 3 * limit_calls, 1e9), self._clock)
        walker = Walker(self._transport, target, self._pace, budget)
        walk = _probe(walker, shard, since, limit_records, limit_calls)
        return walker.together({shard: walk}, self._clock)[shard]

    def probes(
        self, target: Target, places: Iterable[tuple[ShardId, Cut]], limit_records: int
    ) -> dict[ShardId, Probe]:
        """Does what `Kinesis.probes` says."""
        wanted = list(places)
        walker = self._walker(target, len(wanted))
        walks = {s: _probe(walker, s, cut, limit_records, PROBED_READS) for s, cut in wanted}
        return walker.together(walks, self._clock, self._look.read)

    def counts(self, target: Target, intervals: Iterable[Interval]) -> dict[Interval, Count]:
        """Does what `Kinesis.counts` says."""
        wanted = list(dict.fromkeys(intervals))
        walker = self._walker(target, len(wanted))
        walks = {interval: _count(walker, interval) for interval in wanted}
        return walker.together(walks, self._clock, self._look.read)

    def places(
        self, target: Target, opened: Mapping[ShardId, float | None], time: float
    ) -> dict[ShardId, PositionAtTime | None]:
        """Does what `Kinesis.places` says."""
        walker = self._walker(target, len(opened))
        walks = {shard: _place(walker, shard, then, time) for shard, then in opened.items()}
        return walker.together(walks, self._clock, self._look.read)

    def _walker(self, target: Target, shards: int) -> Walker:
        allowed = self._limits.of(shards)
        self._look.begin(allowed)
        return Walker(self._transport, target, self._pace, Budget(allowed, self._clock))


def _probe(
    walker: Walker, shard: ShardId, since: Cut, records: int, reads: int
) -> Walk[Probe]:
    tally = Tally(since, limit=records)
    end = yield from walker.walk(shard, since, tally, reads)
    number = None if tally.first is None else tally.first.number
    return Probe(
        since, end is End.OVER and not tally.count, _arrival(tally.first), number, tally.count,
        end is not End.OVER, _arrival(tally.last), tally.size_bytes,
    )


def _count(walker: Walker, interval: Interval) -> Walk[Count]:
    tally = Tally(interval.since, _beyond(interval.until), NO_LIMIT)
    end = yield from walker.walk(interval.shard, interval.since, tally)
    first, last = _arrival(tally.first), _arrival(tally.last)
    return Count(tally.count, end is End.CUT, first, last, tally.size_bytes)


def _arrival(met: Met | None) -> float | None:
    return None if met is None else met.arrival


def _beyond(until: Cut) -> Beyond:
    """Whether a record lies after a cut. The cut's own record does not."""
    if until.rank is Rank.START:
        return lambda _met: True
    if until.rank is not Rank.INSIDE:
        return never
    if not until.by_time:
        return lambda met: int(met.number) > until.processed
    return _arrived_since(until.time) if until.time is not None else never


def _arrived_since(time: float) -> Beyond:
    def beyond(met: Met) -> bool:
        """One without an arrival time counts as late: what lies before it is certain."""
        return met.arrival is None or met.arrival >= time

    return beyond


def _place(
    walker: Walker, shard: ShardId, opened: float | None, time: float
) -> Walk[PositionAtTime | None]:
    """The cut before the first record that arrived at or after the time; `None` if not reached.

    Arrival times are not monotonic. The number's own time is, and lies at most ARRIVAL_SLACK before
    the arrival: once the walk begins with a record that arrived earlier than that, no record before
    it can have arrived at or after the time.
    """
    for since in _approaches(opened, time):
        tally = Tally(beyond=_arrived_since(time))
        end = yield from walker.walk(shard, since, tally)
        if end is End.FUTURE:
            continue
        first, last = tally.first, tally.last
        sure = since == START or _well_before(first, time)
        after = _arrival(tally.after)
        if last is not None and sure:
            return PositionAtTime(at_number(last.number), after, end is End.CUT, end is End.OVER)
        if end is End.CUT:
            return None
        if since == START:
            return PositionAtTime(START, after, nothing_after=end is End.OVER)
    return None


def _well_before(met: Met | None, time: float) -> bool:
    return met is not None and met.arrival is not None and met.arrival + ARRIVAL_SLACK < time


def _approaches(opened: float | None, time: float) -> Iterator[Cut]:
    for margin in MARGINS:
        if opened is not None and time - margin <= opened:
            break
        yield at_time(time - margin)
    yield START
