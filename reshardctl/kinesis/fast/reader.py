"""A stream's records, page by page, from behind one number up to another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from reshardctl.errors import CannotTell
from reshardctl.kinesis.budget import LONGEST_PAGE
from reshardctl.kinesis.fast.answers import raw
from reshardctl.kinesis.fast.reach import Reach
from reshardctl.kinesis.faults import Kind
from reshardctl.kinesis.target import target_of
from reshardctl.kinesis.transport import CallError, Transport
from reshardctl.kinesis.walk import ENDED, FUTURE, lost_shard
from reshardctl.model import ShardId

Start = Literal[
    "TRIM_HORIZON", "LATEST", "AFTER_SEQUENCE_NUMBER", "AT_SEQUENCE_NUMBER", "AT_TIMESTAMP"
]
_UNMET = 3
"""How often the tip is looked at before a record that should lie before it is given up."""
PACE = 0.2
"""Seconds between two reads of a shard that has throttled: five a second, which all its readers
share (GetRecords API reference)."""


class Begin(NamedTuple):
    """Where reading begins: a type of iterator and its number, or its Unix time."""

    kind: Start
    value: str | float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of GetRecords."""

    records: list[dict[str, Any]]
    """SequenceNumber, ApproximateArrivalTimestamp (Unix seconds), Data (base64 text) and
    PartitionKey of each, in the shard's order."""
    following: str | None
    """The next iterator; `None` behind the last record of a closed shard."""
    behind: int
    """MillisBehindLatest."""


class IteratorExpired(Exception):
    """The iterator is older than five minutes: ask for one behind the last record."""


class TimeAhead(Exception):
    """AT_TIMESTAMP is in the future by the service's clock."""


class PastEnd(Exception):
    """The number is the shard's EndingSequenceNumber: no record can be behind it."""


class ShardGone(CannotTell):
    """The shard is not there any more: retention has taken its records."""


class Unmet(CannotTell):
    """The record to read up to is not there any more: retention has taken it."""


class FastReader:
    """Reads the records of one stream.

    Everything that fails is CannotTell or UsageError in our words, but for what a caller may know
    a way around: IteratorExpired, TimeAhead, PastEnd, ShardGone, Unmet. Throttles, lost answers
    and errors of the service are met with pauses that double.
    """

    def __init__(
        self,
        reach: Reach,
        stream: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """stream: a name or an ARN. Calls nothing yet."""
        self._transport = Transport(reach.client(), sleep)
        self._target = target_of(stream, reach.region or self._transport.region)
        self._clock, self._sleep = clock, sleep
        self._by_arn = {"StreamARN": self._target.arn} if self._target.arn else {}

    @property
    def name(self) -> str:
        """The stream's name."""
        return self._target.name

    def iterator(self, shard: str, kind: Start, value: str | float | None = None) -> str:
        """GetShardIterator. TimeAhead, PastEnd and ShardGone as they say."""
        try:
            answer = self._transport.call(
                "get_shard_iterator", self._target, **self._target.words, ShardId=shard,
                **_words(kind, value),
            )
        except CallError as failed:
            if failed.kind is Kind.INVALID and FUTURE in failed.message:
                raise TimeAhead(failed.message) from None
            if failed.kind is Kind.INVALID and ENDED in failed.message:
                raise PastEnd(failed.message) from None
            raise self._gone(failed, shard) from None
        return str(answer["ShardIterator"])

    def page(self, iterator: str, limit: int = LONGEST_PAGE) -> Page:
        """GetRecords. IteratorExpired as it says."""
        try:
            answer = self._transport.call(
                "get_records", self._target, ShardIterator=iterator, Limit=limit, **self._by_arn
            )
        except CallError as failed:
            if failed.kind is Kind.ITERATOR:
                raise IteratorExpired from None
            raise failed.told from None
        following, behind = answer.get("NextShardIterator"), answer.get("MillisBehindLatest")
        return Page(raw(answer["Records"]), following, behind or 0)

    def after(
        self, shard: str, start: Begin, until: str | None, *, to_end: bool = False
    ) -> Iterator[Page]:
        """The pages of (start, until], the last one cut behind `until`.

        Up to the shard's end with `to_end`; with neither, up to the tip as it is met. Unmet where
        `until` is not met any more, ShardGone as it says.
        """
        iterator: str | None = self.iterator(shard, *start)
        last, looked = start, 0
        while iterator is not None:
            try:
                page = self.page(iterator)
            except IteratorExpired:
                iterator = self.iterator(shard, *last)
                continue
            iterator = page.following
            if until is not None:
                page = _cut(page, until)
            if page.records:
                last = Begin("AFTER_SEQUENCE_NUMBER", page.records[-1]["SequenceNumber"])
            yield page
            if until is not None and last.value == until:
                return
            if to_end or page.behind:
                continue
            if until is None:
                return
            looked += 1
            if looked == _UNMET:
                break
        if until is not None:
            raise Unmet(f"record {until} of shard {shard} is not there any more")

    def _gone(self, failed: CallError, shard: str) -> Exception:
        told = lost_shard(failed, self._target, ShardId(shard))
        if failed.kind is Kind.ABSENT and isinstance(told, CannotTell):
            return ShardGone(told.what, told.next)
        return told


def order(number: str) -> tuple[int, str]:
    """A sequence number as something to compare: digits alone, so the longer is the larger."""
    return len(number), number


def _words(kind: Start, value: str | float | None) -> dict[str, object]:
    words: dict[str, object] = {"ShardIteratorType": kind}
    if isinstance(value, str):
        words["StartingSequenceNumber"] = value
    elif value is not None:
        words["Timestamp"] = datetime.fromtimestamp(value, UTC)
    return words


def _cut(page: Page, until: str) -> Page:
    records, end = page.records, order(until)
    kept = len(records)
    while kept and order(records[kept - 1]["SequenceNumber"]) > end:
        kept -= 1
    return page if kept == len(records) else Page(records[:kept], page.following, page.behind)
