"""GetShardIterator: where each type starts, and the answers of AWS to wrong starts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis
from reshardctl.testing.shards import end, start
from tests.unit.testing.samples import (
    CREATED,
    iterator,
    listed,
    new_stream,
    read,
    recreate,
    refusal,
    split_stream,
)

# Real numbers of the first shard of a stream made in 2021 ("myFirst put" in the golden numbers).
OTHER_STREAM = "49614242006608270452876510010853173733422193860333797378"
# 401 is the shard in this number (KCL#391).
SHARD_401 = "49588160223248606261076875455806734688981848970781268242"


def numbers(fake: FakeKinesis, shard: int) -> list[str]:
    """The sequence numbers of a shard's records."""
    answer = fake.client().get_records(ShardIterator=iterator(fake.client(), shard))
    return [record["SequenceNumber"] for record in answer["Records"]]


STREAM = "in stream orders under account 123456789012"
FIRST_OF_1 = numbers(split_stream(), 1)[0]
END_OF_0 = str(end(0, CREATED - 3, CREATED + 600))
INVALID = "InvalidArgumentException"
NOW = CREATED + 3600


def refused(fake: FakeKinesis, shard: int, kind: str, **params: Any) -> tuple[str, str]:
    return refusal(
        fake.client().get_shard_iterator,
        StreamName="orders",
        ShardId=f"shardId-{shard:012d}",
        ShardIteratorType=kind,
        **params,
    )


def test_where_each_type_starts(fake, client):
    second = numbers(fake, 1)[1]
    beginning = listed(client)[1]["SequenceNumberRange"]["StartingSequenceNumber"]
    assert read(client, 1) == ["s1-0", "s1-1", "s1-2", "s1-3"]
    for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        assert read(client, 1, kind, StartingSequenceNumber=beginning)[0] == "s1-0"
    assert read(client, 1, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=second)[0] == "s1-1"
    assert read(client, 1, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=second)[0] == "s1-2"
    token = iterator(client, 1, "LATEST")
    assert client.get_records(ShardIterator=token)["Records"] == []
    fake.put("orders", 1, "new")
    assert [r["Data"] for r in client.get_records(ShardIterator=token)["Records"]] == [b"new"]


def test_by_time_in_seconds_milliseconds_or_as_a_datetime(client):
    # SDK v1 with CBOR off sends milliseconds (runs on KCL 1.15.3, November 2026).
    then = CREATED + 803  # the second of s1-1
    for value in (then, then * 1000, float(then), datetime.fromtimestamp(then, UTC)):
        assert read(client, 1, "AT_TIMESTAMP", Timestamp=value)[0] == "s1-1"
    assert read(client, 1, "AT_TIMESTAMP", Timestamp=then + 0.5)[0] == "s1-2"
    assert read(client, 1, "AT_TIMESTAMP", Timestamp=CREATED + 3000) == []


def test_by_time_the_first_record_counts_not_the_earliest_time() -> None:
    rows = [{"t": 10, "data": "a", "arrival": 12}, {"t": 11, "data": "b", "arrival": 11}]
    fake = split_stream(shards=[{"id": 0, "range": ["0", "1"], "records": rows}])
    assert read(fake.client(), 0, "AT_TIMESTAMP", Timestamp=CREATED + 11.5) == ["a", "b"]


def test_what_lies_before_the_horizon_starts_there_without_an_error(fake, client):
    # GetShardIterator API reference; by a number seen as silent loss in
    # harlow/kinesis-consumer#125 and gosoline#1124.
    fake.clock.set(CREATED + 86400 + 1000)
    assert read(client, 1, "AT_TIMESTAMP", Timestamp=CREATED) == ["s1-2", "s1-3"]
    found = read(client, 1, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=FIRST_OF_1)
    assert found == ["s1-2", "s1-3"]


def test_a_number_of_an_earlier_incarnation() -> None:
    # Recorded answer of AWS, kinesis-connectors#8: same shard id, same name, recreated.
    fake = new_stream(1)
    put = {"StreamName": "orders", "Data": b"x", "PartitionKey": "k"}
    old = fake.client().put_record(**put)["SequenceNumber"]
    recreate(fake, 1)
    assert refused(fake, 0, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=old) == (
        INVALID, invalid(old, FOREIGN)
    )


def test_at_the_end_of_a_closed_shard_either_way(fake, client):
    # What AWS answers here is not known, hence the setting.
    assert listed(client)[0]["SequenceNumberRange"]["EndingSequenceNumber"] == END_OF_0
    token = iterator(client, 0, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=END_OF_0)
    answer = client.get_records(ShardIterator=token)
    assert answer["Records"] == []
    assert len(answer["ChildShards"]) == 2
    fake.settings.refuse_at_end = True
    code, _ = refused(fake, 0, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=END_OF_0)
    assert code == INVALID


@pytest.mark.parametrize("how", ["unknown", "expired", "withdrawn"])
def test_a_shard_that_is_not_there(how, fake):
    # The text of AWS; KCL takes it for the end of the shard.
    shard = 9 if how == "unknown" else 0
    if how == "expired":
        fake.clock.set(CREATED + 86400 + 601)
    if how == "withdrawn":
        fake.trim_shard("orders", 0)
    assert refused(fake, shard, "TRIM_HORIZON") == (
        "ResourceNotFoundException",
        f"Shard shardId-{shard:012d} in stream orders under account 123456789012 does not exist",
    )


def of_shard(number: int) -> str:
    """The recorded answer of AWS to a number of another shard (boto3#1478, KCL#391)."""
    return (
        f"Invalid StartingSequenceNumber. It encodes shardId-{number:012d}, while it was used in "
        "a call to a shard with shardId-000000000000"
    )


def invalid(number: str, why: str = "", shard: int = 0) -> str:
    return (
        f"StartingSequenceNumber {number} used in GetShardIterator on shard shardId-{shard:012d} "
        f"{STREAM} is invalid{why}."
    )


FOREIGN = " because it did not come from this stream"
YOUNGER = str(start(1, CREATED + 1000))
PAST_THE_END = str(end(0, CREATED - 3, CREATED + 601))
NO_NUMBERS = ("6", "0", "9223372036854775807", "9" * 56)


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
@pytest.mark.parametrize(("shard", "number", "text"), [
    pytest.param(0, FIRST_OF_1, of_shard(1), id="of another shard"),
    pytest.param(0, SHARD_401, of_shard(401), id="of shard 401"),
    # kinesis-connectors#8; the whole text from kinesalite's tests.
    pytest.param(0, OTHER_STREAM, invalid(OTHER_STREAM, FOREIGN), id="of another stream"),
    pytest.param(1, YOUNGER, invalid(YOUNGER, FOREIGN, 1), id="of a younger stream"),
    pytest.param(0, PAST_THE_END, invalid(PAST_THE_END, FOREIGN), id="past the end"),
    *(pytest.param(0, n, invalid(n), id=f"no number {n[:20]}") for n in NO_NUMBERS),
])  # fmt: skip
def test_a_number_that_the_shard_does_not_have(kind, shard, number, text):
    found = refused(split_stream(), shard, kind, StartingSequenceNumber=number)
    assert found == (INVALID, text)


@pytest.mark.parametrize(("kind", "given", "code", "text"), [
    # Runs on KCL 2.7.2 and 3.5.1, November 2026: GetShardIterator AT "SHARD_END".
    ("AT_SEQUENCE_NUMBER", {"StartingSequenceNumber": "SHARD_END"}, "ValidationException",
     ".*at 'startingSequenceNumber'.*"),
    # Recorded answer of AWS, kinesis-mock#1536.
    ("AFTER_SEQUENCE_NUMBER", {"StartingSequenceNumber": END_OF_0}, INVALID,
     "Invalid SequenceNumber for ShardIteratorType AFTER_SEQUENCE_NUMBER, "
     "SequenceNumber has reached max possible value for the shard."),
    # The others: kinesalite's tests, which run against AWS.
    ("AT_TIMESTAMP", {"Timestamp": NOW + 1}, INVALID,
     "The timestampInMillis parameter cannot be greater than the currentTimestampInMillis. "
     f"timestampInMillis: {(NOW + 1) * 1000}, currentTimestampInMillis: {NOW * 1000}"),
    ("LATEST", {"StartingSequenceNumber": END_OF_0}, INVALID,
     r"Must either specify \(1\) AT_SEQUENCE_NUMBER or AFTER_.*"),
    ("AT_SEQUENCE_NUMBER", {}, INVALID,
     r"Must either specify \(1\) AT_SEQUENCE_NUMBER or AFTER_.*"),
    ("AT_TIMESTAMP", {}, INVALID, r".*Current request has no timestamp parameter\..*"),
    ("SOMEWHERE", {}, "ValidationException", ".*"),
], ids=["a sentinel", "after the end", "in the future", "a number too many", "without a number",
        "without a time", "no type"])  # fmt: skip
def test_a_start_that_cannot_be(kind: str, given: dict[str, Any], code: str, text: str) -> None:
    found, said = refused(split_stream(), 0, kind, **given)
    assert found == code and re.fullmatch(text, said), said


def test_a_shards_epoch_may_move_and_its_numbers_stay_valid(fake, client):
    # Seen on AWS: PUT-Firehose-aEhWz 2022 and a Japanese walk-through of 2017.
    old = numbers(fake, 1)[3]
    fake.stream("orders").shards[1].move_epoch(CREATED + 3600)
    new = str(fake.put("orders", 1, "new").number)
    assert int(new) > int(old)
    assert read(client, 1, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=old) == ["new"]
    assert read(client, 1, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=new) == ["new"]
