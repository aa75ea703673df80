"""Records read without boto3's parser, of a fake Kinesis over HTTP, whatever goes wrong there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3
import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis.fast import (
    Begin,
    FastReader,
    IteratorExpired,
    Overtaken,
    PastEnd,
    Reach,
    ShardGone,
    TimeAhead,
    Unmet,
    Unread,
)
from reshardctl.testing import FakeKinesis, serve
from reshardctl.testing.faults import short_page, timeout_after, timeout_before
from reshardctl.testing.requests import ApiError
from tests.unit.kinesis.streams import ARN, CREATED

CLOSED, OPEN, EMPTY = (f"shardId-{n:012d}" for n in (0, 1, 2))
BEGINNING = Begin("TRIM_HORIZON")
ALL_OF_CLOSED = [f"s0-{n}" for n in range(4)]


@pytest.fixture
def waits() -> list[float]:
    return []


Make = Callable[..., FastReader]


class OneSession(Reach, frozen=True):
    """A way to Kinesis whose clients are of one session, which reads boto3's description of the
    service once; test_reach.py has what makes a session."""

    def session(self) -> Any:
        return session()


@cache
def session() -> Any:
    return boto3.Session(region_name="us-east-1")


@pytest.fixture
def make(fake: FakeKinesis, waits: list[float]) -> Iterator[Make]:
    def sleep(seconds: float) -> None:
        waits.append(seconds)
        fake.clock.advance(seconds)

    with serve(fake) as server:
        yield lambda stream="orders": FastReader(
            OneSession("us-east-1", server.url), stream, clock=fake.clock.now, sleep=sleep
        )


@pytest.fixture
def reader(make: Make) -> FastReader:
    return make()


def read(reader: FastReader, shard: str, begin: Begin, until: str | None, **how: Any) -> list[str]:
    pages = reader.after(shard, begin, until, **how)
    return [one.data.decode() for page in pages for one in page.records]


def numbers(fake: FakeKinesis, shard: int) -> list[str]:
    return [str(one.number) for one in fake.stream("orders").shards[shard].records]


def reads(fake: FakeKinesis) -> int:
    return sum(call.action == "GetRecords" for call in fake.calls)


@pytest.mark.parametrize("stream", ["orders", ARN])
def test_a_closed_shard_to_its_end(make: Make, stream: str) -> None:
    assert read(make(stream), CLOSED, BEGINNING, None, to_end=True) == ALL_OF_CLOSED


def test_records_are_what_boto3_says_they_are(fake: FakeKinesis, reader: FastReader) -> None:
    shard = fake.stream("orders").shards[1]
    for data, key in [(b"", "k"), (b"\x00\xff" * 500_000, "ключ 🔑"), (b"x", '"quoted" \\ null')]:
        shard.put(data, key, CREATED + 3000, CREATED + 3000.123)
    page = reader.page(reader.iterator(OPEN, "TRIM_HORIZON"))
    with serve(fake) as server:
        client = session().client("kinesis", endpoint_url=server.url)
        words = {"StreamName": "orders", "ShardId": OPEN, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = client.get_shard_iterator(**words)["ShardIterator"]
        answer = client.get_records(ShardIterator=iterator)
    assert len(page.records) == 7 and page.behind == answer["MillisBehindLatest"]
    for ours, theirs in zip(page.records, answer["Records"], strict=True):
        assert ours.data == theirs["Data"]
        assert ours.partition_key == theirs["PartitionKey"]
        assert ours.sequence_number == theirs["SequenceNumber"]
        assert ours.approximate_arrival_timestamp is not None
        moment = datetime.fromtimestamp(ours.approximate_arrival_timestamp, UTC)
        assert moment == theirs["ApproximateArrivalTimestamp"]


def test_records_that_make_no_sense_are_no_records(fake: FakeKinesis, reader: FastReader) -> None:
    iterator = reader.iterator(OPEN, "TRIM_HORIZON")
    answer = {"Records": [{"SequenceNumber": "1", "Data": b""}], "MillisBehindLatest": 0}
    fake.faults.add("GetRecords", lambda _request, _proceed: dict(answer), times=None)
    with pytest.raises(CannotTell, match="GetRecords of orders: a record makes no sense") as caught:
        reader.page(iterator)
    assert "PartitionKey" in caught.value.what and "endpoint" in caught.value.next


def test_up_to_a_number_and_not_behind_it(fake: FakeKinesis, reader: FastReader) -> None:
    first, second, third, _ = numbers(fake, 1)
    assert read(reader, OPEN, Begin("AFTER_SEQUENCE_NUMBER", first), third) == ["s1-1", "s1-2"]
    assert read(reader, OPEN, Begin("AT_SEQUENCE_NUMBER", third), third) == ["s1-2"]
    no_record_any_more = str(int(second) + 1)
    assert read(reader, OPEN, BEGINNING, no_record_any_more) == ["s1-0", "s1-1"]
    fake.faults.add("GetRecords", short_page(1), times=None)
    assert read(reader, OPEN, BEGINNING, third) == ["s1-0", "s1-1", "s1-2"]


def test_by_time(fake: FakeKinesis, reader: FastReader) -> None:
    then = fake.stream("orders").shards[1].records[2].arrival
    assert read(reader, OPEN, Begin("AT_TIMESTAMP", then), None) == ["s1-2", "s1-3"]
    with pytest.raises(TimeAhead):
        reader.iterator(OPEN, "AT_TIMESTAMP", fake.clock.now() + 60)


@pytest.mark.parametrize("shard", [CLOSED, OPEN])
def test_a_record_that_retention_has_taken_is_told(fake, reader, shard):
    number = int(shard[-1])
    records = fake.stream("orders").shards[number].records
    second = str(records[1].number)
    del records[:2]
    with pytest.raises(Unmet, match=f"record {second} of shard {shard}"):
        read(reader, shard, BEGINNING, second)
    last = str(records[-1].number)
    records.clear()
    with pytest.raises(Unmet, match=f"record {last} of shard {shard}"):
        read(reader, shard, BEGINNING, last)


def test_the_end_of_a_shard_that_has_none_is_not_waited_for_ever(reader, waits):
    with pytest.raises(CannotTell, match="no end of it is met"):
        read(reader, OPEN, BEGINNING, None, to_end=True)
    assert len(waits) < 60


def test_empty_pages_before_the_records_are_passed(fake: FakeKinesis, reader: FastReader) -> None:
    fake.faults.add("GetRecords", short_page(0), times=30)
    assert len(read(reader, OPEN, BEGINNING, numbers(fake, 1)[-1])) == 4


@pytest.mark.parametrize(
    "fault", ["InternalFailure", "ServiceUnavailable", timeout_after, timeout_before]
)
def test_lost_answers_are_asked_for_again(fake, reader, fault):
    fake.faults.add("GetShardIterator", fault, times=2)
    fake.faults.add("GetRecords", short_page(1), times=1)
    fake.faults.add("GetRecords", fault, times=3)
    assert read(reader, CLOSED, BEGINNING, None, to_end=True) == ALL_OF_CLOSED


THROTTLES = ["ProvisionedThroughputExceededException", "LimitExceededException",
             "KMSThrottlingException"]  # fmt: skip


@pytest.mark.parametrize("code", [*THROTTLES, None])
def test_a_throttled_shard_is_waited_for_and_then_read_at_its_pace(fake, reader, waits, code):
    """Five reads a second and a shard (GetRecords API reference). code: None without throttles."""
    if code:
        fake.faults.add("GetRecords", ApiError(code, "Rate exceeded"), times=20)
    fake.faults.add("GetRecords", short_page(1), times=None)
    assert len(read(reader, OPEN, BEGINNING, numbers(fake, 1)[-1])) == 4
    assert waits[:7] == ([0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0] if code else [])
    assert waits[-3:] == ([0.2] * 3 if code else []), "between four pages"


def test_a_shard_that_is_throttled_for_good(fake, reader, waits):
    fake.faults.add("GetRecords", THROTTLES[0], times=None)
    with pytest.raises(CannotTell, match="is throttled"):
        read(reader, OPEN, BEGINNING, None)
    assert 120 <= sum(waits) < 180


def test_an_expired_iterator_goes_on_behind_the_last_record(fake, reader):
    fake.faults.add("GetRecords", "ExpiredIteratorException", after=0)
    fake.faults.add("GetRecords", "ExpiredIteratorException", after=3)
    fake.faults.add("GetRecords", short_page(1), times=None)
    assert read(reader, CLOSED, BEGINNING, None, to_end=True) == ALL_OF_CLOSED
    asked = [c.params for c in fake.calls if c.action == "GetShardIterator"]
    assert [one["ShardIteratorType"] for one in asked] == [
        "TRIM_HORIZON", "TRIM_HORIZON", "AFTER_SEQUENCE_NUMBER"
    ]  # fmt: skip
    assert asked[-1]["StartingSequenceNumber"] == numbers(fake, 0)[2]


def test_an_iterator_lives_five_minutes(fake: FakeKinesis, reader: FastReader) -> None:
    iterator = reader.iterator(OPEN, "TRIM_HORIZON")
    fake.clock.advance(301)
    with pytest.raises(IteratorExpired):
        reader.page(iterator)


def test_what_is_not_there(fake: FakeKinesis, reader: FastReader, make: Make) -> None:
    with pytest.raises(ShardGone, match=r"shardId-000000000009 of .* is gone"):
        reader.iterator("shardId-000000000009", "TRIM_HORIZON")
    with pytest.raises(UsageError, match="there is no stream other"):
        make("other").iterator(OPEN, "TRIM_HORIZON")
    ending = str(fake.stream("orders").shards[0].ending)
    with pytest.raises(PastEnd):
        reader.iterator(CLOSED, "AFTER_SEQUENCE_NUMBER", ending)


def test_credentials_that_were_renewed_meanwhile(fake: FakeKinesis, reader: FastReader) -> None:
    """A process reads a file of credentials once; here the first call finds them expired."""
    fake.faults.add("GetRecords", "ExpiredTokenException", times=1)
    assert len(read(reader, OPEN, BEGINNING, None)) == 4


SECRET = "AKIAIOSFODNN7EXAMPLE"
EXPIRED = ApiError("ExpiredTokenException", f"token {SECRET} has expired")
TURNED_BACK = ApiError("InvalidSignatureException",
                       "Signature expired: 20261122T050000Z is now earlier than 20261122T055500Z")


@pytest.mark.parametrize(("fault", "words", "way_out", "times"), [
    (EXPIRED, r"\(ExpiredTokenException\)", "", 2),
    (TURNED_BACK, "this machine's clock", "set the clock", None),
    ("AccessDeniedException", "no permission for kinesis:GetRecords",
     '"Action": ["kinesis:GetRecords"]', None),
], ids=["expired credentials", "a wrong clock", "no permission"])
def test_what_is_refused_is_told(fake, reader, fault, words, way_out, times):
    fake.faults.add("GetRecords", fault, times=None)
    with pytest.raises(CannotTell, match=words) as caught:
        read(reader, OPEN, BEGINNING, None)
    assert way_out in caught.value.next
    assert SECRET not in f"{caught.value!r} {caught.value.next} {reader!r}"
    assert times in (None, reads(fake))


def overtaken(fake: FakeKinesis, count: int) -> Unread:
    """A retention that takes so many records of the open shard now."""
    shard = fake.stream("orders").shards[1]
    then = shard.records[count - 1].arrival
    del shard.records[:count]
    return Unread(then, fake.clock.now() - then - 1)


def test_retention_that_overtakes_a_read_is_told(fake: FakeKinesis, reader: FastReader) -> None:
    first, *_, last = numbers(fake, 1)
    unread = overtaken(fake, 2)
    with pytest.raises(Overtaken, match=rf"shard {OPEN}: retention has overtaken the read"):
        read(reader, OPEN, Begin("AFTER_SEQUENCE_NUMBER", first), last, unread=unread)
    with pytest.raises(Overtaken, match=r"records from 20.*Z on may be gone"):
        read(reader, OPEN, BEGINNING, last, unread=unread)


def test_retention_that_overtakes_a_read_between_two_pages_is_told(fake, reader):
    last = numbers(fake, 1)[-1]
    fake.faults.add("GetRecords", short_page(1), times=None)
    pages = reader.after(OPEN, BEGINNING, last, unread=Unread(None, 1))
    assert len(next(pages).records) == 1
    del fake.stream("orders").shards[1].records[:2]
    with pytest.raises(Overtaken):
        list(pages)


def test_a_place_past_retention_of_which_all_is_still_there_is_read(fake, reader):
    first, *_, last = numbers(fake, 1)
    begin = Begin("AFTER_SEQUENCE_NUMBER", first)
    fake.faults.add("GetRecords", short_page(0), times=3)
    assert read(reader, OPEN, begin, last, unread=Unread(0, 1)) == ["s1-1", "s1-2", "s1-3"]
    before = reads(fake)
    since = fake.stream("orders").shards[1].records[0].arrival
    young = Unread(since, fake.clock.now() - since + 1)
    assert len(read(reader, OPEN, begin, last, unread=young)) == 3
    assert reads(fake) - before == 1, "nothing is looked up within retention"


def test_records_without_a_time_of_arrival_are_read(fake, reader):
    """As emulators may send them."""

    def timeless(request: Any, proceed: Any) -> Any:
        answer = proceed(request)
        for record in answer["Records"]:
            del record["ApproximateArrivalTimestamp"]
        return answer

    fake.faults.add("GetRecords", timeless, times=None)
    last = numbers(fake, 1)[-1]
    assert len(read(reader, OPEN, BEGINNING, last, unread=Unread(None, 86_400))) == 4
