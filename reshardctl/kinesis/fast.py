"""Reads records fast, page by page, without botocore's parser.

boto3 spends most of its time on turning each record's fields into objects of its own, three
quarters of it on the time of arrival alone. What it does before (endpoints, credentials and their
renewal, SigV4, connections kept open) costs under a millisecond per page. So the bodies of its
answers are taken before they are parsed, as those of long listings are
(`reshardctl.kinesis.transport`). `Reach` says how any process reaches a stream; read `FastReader`
first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from reshardctl.aws import client as aws
from reshardctl.errors import CannotTell
from reshardctl.kinesis.budget import LONGEST_PAGE
from reshardctl.kinesis.target import target_of
from reshardctl.kinesis.transport import CallError, Kind, Transport, client_of
from reshardctl.kinesis.walk import ENDED, FUTURE, lost_shard
from reshardctl.kinesis.whole import take_whole
from reshardctl.model import ShardId
from reshardctl.model.times import instant

__all__ = [
    "Begin",
    "FastReader",
    "IteratorExpired",
    "Overtaken",
    "Page",
    "PastEnd",
    "Reach",
    "Record",
    "ShardGone",
    "TimeAhead",
    "Unmet",
    "Unread",
]


class Record(Struct, rename="pascal", frozen=True, gc=False):
    """A record of a stream, as GetRecords returns it."""

    sequence_number: str
    data: bytes
    partition_key: str
    approximate_arrival_timestamp: float | None = None
    """Unix seconds."""


class _Answer(Struct, rename="pascal"):
    records: list[Record]
    next_shard_iterator: str | None = None
    millis_behind_latest: int | None = None


_ANSWER = Decoder(_Answer)


def keep_records_raw(client: Any) -> None:
    """Makes `get_records` of this client return `Record` objects instead of dictionaries.

    Errors stay with botocore, and so does an answer that is not as the service writes it: its
    records are dictionaries, which `records_of` turns into the same objects.
    """

    def take_over(
        response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
    ) -> None:
        if response_dict["status_code"] != 200:
            return
        try:
            answer = _ANSWER.decode(response_dict["body"])
        except DecodeError:
            return
        # These keys become part of the answer, and the parser has nothing left to do.
        customized_response_dict.update(
            Records=answer.records,
            NextShardIterator=answer.next_shard_iterator,
            MillisBehindLatest=answer.millis_behind_latest,
        )
        response_dict["body"] = b"{}"

    client.meta.events.register(
        "before-parse.kinesis.GetRecords", take_over, unique_id="reshardctl-records"
    )


def records_of(records: Sequence[Any]) -> Sequence[Record]:
    """The records of an answer, also of one that botocore has parsed.

    KeyError, AttributeError or TypeError for one that lacks what the service always writes.
    """
    if records and isinstance(records[0], Record):
        return records
    return [_record(record) for record in records]


def _record(record: Mapping[str, Any]) -> Record:
    """Converts a record that botocore has parsed.

    What is no Unicode text in its key becomes "?".
    """
    arrived = record.get("ApproximateArrivalTimestamp")
    return Record(
        record["SequenceNumber"],
        record["Data"],
        record["PartitionKey"].encode("utf-8", "replace").decode(),
        None if arrived is None else arrived.timestamp(),
    )


class Reach(Struct, frozen=True):
    """The way to Kinesis. It holds no secret: credentials are looked up where it is used.

    They come from boto3's default chain; those of `role_arn`, if it is given, are requested from
    STS with them and renewed before they expire. Without a region the environment's is taken.
    """

    region: str | None = None
    endpoint_url: str | None = None
    role_arn: str | None = None
    role_session_name: str | None = None
    role_external_id: str | None = None

    def session(self) -> Any:
        """A boto3 Session; a role is assumed at once. CannotTell if it cannot be."""
        session = aws.own_session(None, self.region)
        if self.role_arn is None:
            return session
        try:
            return aws.assumed(
                session, self.role_arn, region=self.region,
                name=self.role_session_name, external_id=self.role_external_id,
            )
        except (*aws.CAUGHT, ValueError) as error:
            raise CannotTell(
                f"role {self.role_arn} cannot be assumed: {aws.clean(str(error))}",
                "check the role and who may assume it",
            ) from None

    def client(self) -> Any:
        """A client of Kinesis that leaves its records raw. UsageError without a region."""
        client = client_of(self.session(), self.region, self.endpoint_url)
        keep_records_raw(client)
        take_whole(client)
        return client


Start = Literal[
    "TRIM_HORIZON", "LATEST", "AFTER_SEQUENCE_NUMBER", "AT_SEQUENCE_NUMBER", "AT_TIMESTAMP"
]
PACE = 0.2
"""Seconds between two reads of a shard that has throttled or has nothing new: a shard allows five
per second, shared by all its readers (GetRecords API reference)."""
PACED_FOR = 60.0
"""Seconds for which reads keep that pace after a call had to be repeated."""
PATIENCE = 120.0
"""Seconds for which a throttled call is repeated: other readers of the shard may take long."""
_LOOKS = 25
"""Empty reads at the tip before an expected record or end is given up."""


class Begin(NamedTuple):
    """The start of reading: a type of iterator and its sequence number, or its Unix time."""

    kind: Start
    value: str | float | None = None


class Page(Struct, frozen=True):
    """One answer of GetRecords."""

    records: Sequence[Record]
    """In the shard's order."""
    following: str | None
    """The next iterator; `None` after the last record of a closed shard."""
    behind: int
    """MillisBehindLatest."""


class IteratorExpired(Exception):
    """The iterator is older than five minutes: ask for one after the last record."""


class TimeAhead(Exception):
    """The time of AT_TIMESTAMP is in the future by the service's clock."""


class PastEnd(Exception):
    """The number is the shard's EndingSequenceNumber: no record can be after it."""


class ShardGone(CannotTell):
    """A shard is no longer listed: its records have expired.

    Next: read from the oldest records that are left.
    """

    id = "E308"


class Unread(NamedTuple):
    """The start of what is unread, for a stream whose retention may overtake the read."""

    since: float | None
    """Unix seconds: no earlier record is unread. `None`: no record before the first one read is."""
    retention: float
    """Seconds."""


class Overtaken(CannotTell):
    """Records after those that were read may have expired before they could be read.

    Next: read faster, or extend the stream's retention, and read again.
    """

    id = "E309"


class Unmet(CannotTell):
    """The record to read up to has expired, and so have all before it.

    Next: read from the oldest records that are left.
    """

    id = "E310"


class FastReader:
    """Reads the records of one stream.

    Every failure is CannotTell or UsageError in our words, except for those that a caller may work
    around: IteratorExpired, TimeAhead, PastEnd, ShardGone, Unmet. Throttles, lost answers and
    errors of the service are retried with pauses that double.
    """

    def __init__(
        self,
        reach: Reach,
        stream: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Calls nothing yet. stream: a name or an ARN."""
        self._reach, self._clock, self._sleep = reach, clock, sleep
        self._paced_until = 0.0
        self._transport = Transport(reach.client(), self._pause)
        self._target = target_of(stream, self._transport.region)
        self._by_arn = {"StreamARN": self._target.arn} if self._target.arn else {}

    @property
    def name(self) -> str:
        """The stream's name."""
        return self._target.name

    def iterator(self, shard: str, kind: Start, value: str | float | None = None) -> str:
        """Calls GetShardIterator. Raises TimeAhead, PastEnd and ShardGone."""
        arguments = {**self._target.words, "ShardId": shard, **_start_arguments(kind, value)}
        try:
            answer = self._call("get_shard_iterator", arguments)
        except CallError as failed:
            if failed.kind is Kind.INVALID and FUTURE in failed.message:
                raise TimeAhead(failed.message) from None
            if failed.kind is Kind.INVALID and ENDED in failed.message:
                raise PastEnd(failed.message) from None
            raise self._gone(failed, shard) from None
        return str(answer["ShardIterator"])

    def page(self, iterator: str, limit: int = LONGEST_PAGE) -> Page:
        """Calls GetRecords. Raises IteratorExpired; CannotTell for malformed records."""
        arguments = {"ShardIterator": iterator, "Limit": limit, **self._by_arn}
        try:
            answer = self._call("get_records", arguments)
        except CallError as failed:
            if failed.kind is Kind.ITERATOR:
                raise IteratorExpired from None
            raise failed.told from None
        try:
            records = records_of(answer["Records"])
        except (KeyError, TypeError, AttributeError) as error:
            raise CannotTell(
                f"GetRecords of {self.name}: a record makes no sense ({error!r})",
                "check that the endpoint is Kinesis",
            ) from None
        following, behind = answer.get("NextShardIterator"), answer.get("MillisBehindLatest")
        return Page(records, following, behind or 0)

    def after(
        self, shard: str, start: Begin, until: str | None, *, to_end: bool = False,
        unread: Unread | None = None,
    ) -> Iterator[Page]:  # fmt: skip
        """The pages of (start, until], the last one cut after `until`.

        With `to_end` up to the shard's end; with neither, up to the tip when it is reached. Raises
        Unmet if neither `until` nor a record before it exists any more, Overtaken if `unread` is
        given and may have expired, ShardGone, and CannotTell for a shard that is to be read to its
        end and has none.
        """
        iterator: str | None = self.iterator(shard, *start)
        last, looked = start, 0
        while iterator is not None:
            try:
                page = self.page(iterator)
            except IteratorExpired:
                iterator = self.iterator(shard, *last)
                continue
            if unread is not None:
                self._not_overtaken(shard, last, unread)
            iterator = page.following
            page, reached = (page, False) if until is None else _cut(page, until)
            if page.records:
                newest = page.records[-1]
                last = Begin("AFTER_SEQUENCE_NUMBER", newest.sequence_number)
                unread = unread and unread._replace(since=newest.approximate_arrival_timestamp)
                yield page
            if reached and last is not start:
                return
            if reached:
                break
            if not page.records and not page.behind:
                looked += 1
                if looked == _LOOKS:
                    break
            if iterator is not None and not page.behind:
                if until is None and not to_end:
                    return
                self._sleep(PACE)
            elif self._clock() < self._paced_until:
                self._sleep(PACE)
        if until is not None:
            raise Unmet(
                f"record {until} of shard {shard} is not there any more: retention has taken it"
            )
        if iterator is not None:
            raise CannotTell(f"shard {shard} is closed, and no end of it is met", "run this again")

    def _not_overtaken(self, shard: str, last: Begin, unread: Unread) -> None:
        """Raises Overtaken if records after the last position may have expired.

        That is so if the position lies before the trim horizon and its own record is gone.
        """
        if unread.since is None or unread.since >= self._clock() - unread.retention:
            return
        if last.kind == "AFTER_SEQUENCE_NUMBER" and self._holds(shard, str(last.value)):
            return
        since = instant(unread.since)
        raise Overtaken(
            f"shard {shard}: retention has overtaken the read: records from {since} on may be gone",
            'start the query once with .option("failOnDataLoss", "false") to go on without them',
        )

    def _holds(self, shard: str, number: str) -> bool:
        iterator: str | None = None
        for _ in range(_LOOKS):
            iterator = iterator or self.iterator(shard, "AT_SEQUENCE_NUMBER", number)
            try:
                page = self.page(iterator, 1)
            except IteratorExpired:
                iterator = None
                continue
            if page.records:
                return page.records[0].sequence_number == number
            iterator = page.following
            if iterator is None or not page.behind:
                return False
        return False

    def _call(self, operation: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Makes a call, repeated as needed. CallError if it fails for good."""
        patient_until, renewed = self._clock() + PATIENCE, False
        while True:
            try:
                return self._transport.call(operation, self._target, **arguments)
            except CallError as failed:
                if failed.kind is Kind.CREDENTIALS and not renewed:
                    # A process reads files and variables once; they may have been renewed since.
                    renewed = True
                    self._transport = Transport(self._reach.client(), self._pause)
                elif failed.kind is not Kind.BUSY or self._clock() >= patient_until:
                    raise

    def _pause(self, seconds: float) -> None:
        self._paced_until = self._clock() + PACED_FOR
        self._sleep(seconds)

    def _gone(self, failed: CallError, shard: str) -> Exception:
        """The error for what the service says is missing: the shard, or the stream."""
        told = lost_shard(failed, self._target, ShardId(shard))
        if failed.kind is Kind.ABSENT and shard in failed.message and isinstance(told, CannotTell):
            return ShardGone(told.what, told.next)
        return failed.told


def order(number: str) -> tuple[int, str]:
    """A key that sorts sequence numbers: they are digits alone, so the longer is the larger."""
    return len(number), number


def _start_arguments(kind: Start, value: str | float | None) -> dict[str, object]:
    arguments: dict[str, object] = {"ShardIteratorType": kind}
    if isinstance(value, str):
        arguments["StartingSequenceNumber"] = value
    elif value is not None:
        arguments["Timestamp"] = datetime.fromtimestamp(value, UTC)
    return arguments


def _cut(page: Page, until: str) -> tuple[Page, bool]:
    """The page without the records after `until`, and whether `until` was reached."""
    records, end = page.records, order(until)
    kept = len(records)
    while kept and order(records[kept - 1].sequence_number) > end:
        kept -= 1
    if kept < len(records):
        return Page(records[:kept], page.following, page.behind), True
    return page, bool(kept) and order(records[-1].sequence_number) == end
