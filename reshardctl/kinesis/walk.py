"""Walks along shards, several at a time: each at its own pace, all within one budget.

A walk is a generator. Before each call it yields the shard that it wants to read, and is sent
whether it may; then it makes that one call. So many shards are read at the same time, and a
thousand of them while one waits for its pace.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from typing import Any, Generic, TypeVar

from msgspec import Struct

from reshardctl import at_once
from reshardctl.aws.client import CONNECTIONS
from reshardctl.errors import CannotTell
from reshardctl.kinesis.budget import Budget, Pace, Tally
from reshardctl.kinesis.target import Target
from reshardctl.kinesis.transport import CallError, Kind, Transport
from reshardctl.model import Cut, Rank, ShardId

ENDED = "has reached max possible value"
"""The error of AFTER_SEQUENCE_NUMBER on an EndingSequenceNumber (kinesis-mock#1536)."""
FUTURE = "cannot be greater than the current"
"""The error of AT_TIMESTAMP in the future, by the service's clock (kinesalite's tests, run on
AWS)."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Walk = Generator[ShardId, bool, T]
_Turn = tuple[float, int, ShardId]
"""From when on a walk may read its shard (seconds of the clock), its place among the walks."""


class End(Enum):
    """How a walk ended."""

    OVER = "over"
    """At the end of a closed shard, or at the tip of an open one."""
    FULL = "full"
    """The tally is full."""
    CUT = "cut"
    """The budget ran out, or the shard stayed throttled: nothing is known of the rest."""
    FUTURE = "future"
    """The time to start from is in the future of the service's clock: no record is that late."""


class Walker:
    """Walks along the shards of one stream."""

    def __init__(self, transport: Transport, target: Target, pace: Pace, budget: Budget) -> None:
        self._transport, self._target = transport, target
        self._pace, self._budget = pace, budget

    def walk(
        self, shard: ShardId, since: Cut, tally: Tally, most: int | None = None
    ) -> Walk[End]:
        """Reads from after a cut until the tally is full, the end, or `most` reads of the shard."""
        start = start_words(since)
        if start is None:
            return End.OVER
        iterator = yield from self._iterator(shard, start)
        reads = 0
        while not isinstance(iterator, End):
            if reads == most or not (yield shard):
                return End.CUT
            reads += 1
            try:
                answer = self._read(shard, iterator, tally.wanted)
            except CallError as failed:
                if failed.kind is Kind.BUSY:
                    return End.CUT
                if failed.kind is not Kind.ITERATOR:
                    raise lost_shard(failed, self._target, shard) from None
                start = start_words(tally.reached) if tally.reached is not None else start
                assert start is not None
                iterator = yield from self._iterator(shard, start)
                continue
            records = answer["Records"]
            tally.take(records)
            if tally.full:
                over = tally.after is None and answer.get("MillisBehindLatest") == 0
                return End.OVER if over else End.FULL
            following = answer.get("NextShardIterator")
            at_tip = answer.get("MillisBehindLatest") == 0 and not records
            iterator = End.OVER if following is None or at_tip else str(following)
        return iterator

    def _iterator(self, shard: ShardId, start: Mapping[str, object]) -> Walk[str | End]:
        """An iterator, or how the walk ends if there is none."""
        if not (yield shard):
            return End.CUT
        try:
            answer = self._transport.call(
                "get_shard_iterator", self._target, **self._target.words, ShardId=shard, **start
            )
        except CallError as failed:
            if failed.kind is Kind.BUSY:
                return End.CUT
            if failed.kind is Kind.INVALID and ENDED in failed.message:
                return End.OVER
            if failed.kind is Kind.INVALID and FUTURE in failed.message:
                return End.FUTURE
            raise lost_shard(failed, self._target, shard) from None
        return str(answer["ShardIterator"])

    def _read(self, shard: ShardId, iterator: str, wanted: int) -> dict[str, Any]:
        by_arn = {"StreamARN": self._target.arn} if self._target.arn else {}
        key, records, size = _key(self._target, shard), 0, 0
        limit = max(1, min(wanted, self._pace.limit(key)))
        try:
            answer = self._transport.call(
                "get_records", self._target, ShardIterator=iterator, Limit=limit, **by_arn
            )
            records = len(answer["Records"])
            size = sum(len(r["Data"]) + len(r["PartitionKey"]) for r in answer["Records"])
            return answer
        finally:
            self._pace.read(key, records, size)

    def together(
        self, walks: Mapping[K, Walk[T]], clock: Callable[[], float],
        done: Callable[[int, int], None] = lambda _done, _walks: None,
    ) -> dict[K, T]:
        """Runs all walks to their ends, at the same time as far as their shards may be read.

        The shard that may be read first goes first. done: called with the number of walks that
        have ended, and of all.
        """
        keys, running = list(walks), list(walks.values())
        found: dict[int, T] = {}
        waiting: list[_Turn] = []

        def go_on(which: Sequence[int], may: bool | None) -> None:
            steps = [partial(_step, running[walk], may) for walk in which]
            limit = CONNECTIONS if may else 1
            for walk, step in zip(which, at_once.together(steps, limit), strict=True):
                if isinstance(step, _Ended):
                    found[walk] = step.value
                    done(len(found), len(running))
                else:
                    heapq.heappush(waiting, (self._free_at(step), walk, step))

        go_on(range(len(running)), None)
        while waiting:
            left, now = self._budget.left(), clock()
            if not left:
                go_on([heapq.heappop(waiting)[1]], may=False)
            elif turns := self._free(waiting, now, min((left + 1) // 2, CONNECTIONS)):
                # Half of the calls at most: an iterator is of use only if a read follows.
                self._budget.spend(len(turns))
                go_on(turns, may=True)
            else:
                self._transport.sleep(waiting[0][0] - now)
        return {key: found[walk] for walk, key in enumerate(keys)}

    def _free(self, waiting: list[_Turn], now: float, most: int) -> list[int]:
        """Takes walks out of the queue whose shards may be read now, one of each shard."""
        taken: dict[ShardId, int] = {}
        later: list[_Turn] = []
        while waiting and waiting[0][0] <= now and len(taken) < most:
            _, walk, shard = heapq.heappop(waiting)
            free = self._free_at(shard)
            if free <= now and shard not in taken:
                taken[shard] = walk
            else:
                later.append((free, walk, shard))
        for turn in later:
            heapq.heappush(waiting, turn)
        return list(taken.values())

    def _free_at(self, shard: ShardId) -> float:
        return self._pace.free_at(_key(self._target, shard))


class _Ended(Struct, Generic[T], frozen=True):
    """What a walk has found."""

    value: T


def _step(walk: Walk[T], may: bool | None) -> ShardId | _Ended[T]:
    """The shard that the walk wants to read next, or its end.

    may: what the walk is sent, `None` at its beginning.
    """
    try:
        return next(walk) if may is None else walk.send(may)
    except StopIteration as stopped:
        return _Ended(stopped.value)


def _key(target: Target, shard: ShardId) -> str:
    return f"{target.resource}/{shard}"


def start_words(since: Cut) -> dict[str, object] | None:
    """The arguments of GetShardIterator for a cut; `None` if no record can be after it.

    For a cut inside an aggregated record the walk begins at that record, for some of it may be
    unread. ValueError for a start by an unknown time.
    """
    match since.rank:
        case Rank.START:
            return {"ShardIteratorType": "TRIM_HORIZON"}
        case Rank.TIP:
            return {"ShardIteratorType": "LATEST"}
        case Rank.DONE:
            return None
        case Rank.INSIDE:
            return _start_inside(since)


def _start_inside(since: Cut) -> dict[str, object]:
    if not since.by_time:
        number = since.text or str(since.number)
        kind = "AT_SEQUENCE_NUMBER" if since.sub else "AFTER_SEQUENCE_NUMBER"
        return {"ShardIteratorType": kind, "StartingSequenceNumber": number}
    if since.time is None:
        raise ValueError("a start by time without the time cannot be probed")
    moment = datetime.fromtimestamp(since.time, UTC)
    return {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": moment}


def lost_shard(failed: CallError, target: Target, shard: ShardId) -> Exception:
    """The error for a shard that is gone, as distinct from a stream that does not exist."""
    if failed.kind is Kind.ABSENT:
        what = f"shard {shard} of stream {target.name} is gone: its records have expired"
        return CannotTell(what, "run this again: the shards are listed anew")
    return failed.told
