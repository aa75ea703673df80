"""Bounded reads of one shard: is anything left behind a cut, and since when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from reshardctl.errors import CannotTell
from reshardctl.kinesis.faults import Kind
from reshardctl.kinesis.target import Target
from reshardctl.kinesis.transport import CallError, Transport
from reshardctl.model import Cut, Probe, Rank, ShardId, at_number

PACE = 0.5
"""Seconds between two reads of a shard: it allows five a second, which consumers share
(GetRecords API reference)."""
_PAGE_LIMIT = 10_000
_ENDED = "has reached max possible value"
"""Of AFTER_SEQUENCE_NUMBER on an EndingSequenceNumber (kinesis-mock#1536)."""


class Prober:
    """Walks shards, at most one read in PACE seconds each."""

    def __init__(self, transport: Transport, clock: Callable[[], float]) -> None:
        self._transport = transport
        self._clock = clock
        self._read_at: dict[tuple[str, str], float] = {}

    def probe(
        self, target: Target, shard: ShardId, since: Cut, limit_records: int, limit_calls: int
    ) -> Probe:
        """See `Kinesis.probe`."""
        walk = _Walk(since)
        iterator = self._iterator(target, shard, since)
        for _ in range(limit_calls):
            if iterator is None:
                return walk.ended()
            try:
                answer = self._records(target, shard, iterator, limit_records - walk.count)
            except CallError as failed:
                if failed.kind is not Kind.ITERATOR:
                    raise _lost_shard(failed, target, shard) from None
                iterator = self._iterator(target, shard, walk.reached)
                continue
            walk.take(answer["Records"])
            iterator = answer.get("NextShardIterator")
            at_tip = answer.get("MillisBehindLatest") == 0
            if iterator is None or (at_tip and not answer["Records"]):
                return walk.ended()
            if walk.count >= limit_records:
                return walk.cut_short(more=not at_tip)
        return walk.cut_short(more=True)

    def _iterator(self, target: Target, shard: ShardId, since: Cut) -> str | None:
        """An iterator behind the cut; `None` where nothing can be behind it."""
        words = _start(since)
        if words is None:
            return None
        try:
            answer = self._transport.call(
                "get_shard_iterator", target, **target.words, ShardId=shard, **words
            )
        except CallError as failed:
            if failed.kind is Kind.INVALID and _ENDED in failed.message:
                return None
            raise _lost_shard(failed, target, shard) from None
        return str(answer["ShardIterator"])

    def _records(
        self, target: Target, shard: ShardId, iterator: str, wanted: int
    ) -> dict[str, Any]:
        key = (target.resource, shard)
        if (read_at := self._read_at.get(key)) is not None:
            self._transport.sleep(max(0.0, PACE - max(0.0, self._clock() - read_at)))
        by_arn = {"StreamARN": target.arn} if target.arn else {}
        try:
            return self._transport.call(
                "get_records", target, ShardIterator=iterator,
                Limit=min(wanted, _PAGE_LIMIT), **by_arn,
            )  # fmt: skip
        finally:
            self._read_at[key] = self._clock()


class _Walk:
    """What a walk has met so far."""

    def __init__(self, since: Cut) -> None:
        self.since = since
        self.reached = since
        self.count = 0
        self._first: str | None = None
        self._arrival: float | None = None

    def take(self, records: list[dict[str, Any]]) -> None:
        if records and self._first is None:
            self._first = records[0]["SequenceNumber"]
            arrived = records[0].get("ApproximateArrivalTimestamp")
            self._arrival = arrived.timestamp() if arrived is not None else None
        if records:
            self.reached = at_number(records[-1]["SequenceNumber"])
        self.count += len(records)

    def ended(self) -> Probe:
        return self._probe(drained=not self.count, more=False)

    def cut_short(self, *, more: bool) -> Probe:
        return self._probe(drained=False, more=more)

    def _probe(self, *, drained: bool, more: bool) -> Probe:
        return Probe(self.since, drained, self._arrival, self._first, self.count, more)


def _start(since: Cut) -> dict[str, object] | None:
    """How GetShardIterator spells a cut. ValueError for a start by a time that nobody said."""
    match since.rank:
        case Rank.START:
            return {"ShardIteratorType": "TRIM_HORIZON"}
        case Rank.TIP:
            return {"ShardIteratorType": "LATEST"}
        case Rank.DONE:
            return None
    if not since.by_time:
        number = since.text or str(since.number)
        return {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": number}
    if since.time is None:
        raise ValueError("a start by time without the time cannot be probed")
    moment = datetime.fromtimestamp(since.time, UTC)
    return {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": moment}


def _lost_shard(failed: CallError, target: Target, shard: ShardId) -> Exception:
    """A shard that is gone is another thing than a stream that is not there."""
    if failed.kind is Kind.ABSENT:
        what = f"shard {shard} of stream {target.name} is gone: its records have expired"
        return CannotTell(what, "run this again: the shards are listed anew")
    return failed.told
