"""Walks along shards, several at a time: each at its own pace, all within one budget.

A walk is a generator. Before each call it yields the shard that it wants to read, and is sent
whether it may; so a thousand idle shards are read while one waits for its pace.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Hashable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar

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
        self._budget.spend()
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
        self._budget.spend()
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
        """Runs all walks to their ends; the shard that may be read first goes first.

        done: called with the number of walks that have ended, and of all.
        """
        results: dict[K, T] = {}
        queue: list[tuple[float, int, K, ShardId]] = []
        order = {key: index for index, key in enumerate(walks)}

        def go_on(key: K, may: bool | None) -> None:
            walk = walks[key]
            try:
                shard = next(walk) if may is None else walk.send(may)
            except StopIteration as stopped:
                results[key] = stopped.value
                done(len(results), len(walks))
                return
            heapq.heappush(queue, (self._free_at(shard), order[key], key, shard))

        for key in walks:
            go_on(key, None)
        while queue:
            _, index, key, shard = heapq.heappop(queue)
            now, free = clock(), self._free_at(shard)
            if free > now and self._budget.left():
                if queue and queue[0][0] < free:
                    heapq.heappush(queue, (free, index, key, shard))
                    continue
                self._transport.sleep(free - now)
            go_on(key, self._budget.left())
        return {key: results[key] for key in walks}

    def _free_at(self, shard: ShardId) -> float:
        return self._pace.free_at(_key(self._target, shard))


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
