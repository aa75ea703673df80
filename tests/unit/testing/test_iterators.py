"""GetShardIterator: where each type starts, and the answers of AWS to wrong starts."""

from __future__ import annotations

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
    refusal,
    split_stream,
)

# Real numbers of the first shard of a stream made in 2021 ("myFirst put" in the golden numbers).
OTHER_STREAM = "49614242006608270452876510010853173733422193860333797378"
# 401 is the shard in this number (KCL#391).
SHARD_401 = "49588160223248606261076875455806734688981848970781268242"


def numbers(fake: FakeKinesis, shard: int) -> list[str]:
    client = fake.client()
    answer = client.get_records(ShardIterator=iterator(client, shard))
    return [record["SequenceNumber"] for record in answer["Records"]]


def refused(fake: FakeKinesis, shard: int, kind: str, **params: Any) -> tuple[str, str]:
    return refusal(
        fake.client().get_shard_iterator,
        StreamName="orders",
        ShardId=f"shardId-{shard:012d}",
        ShardIteratorType=kind,
        **params,
    )


def test_where_each_type_starts() -> None:
    fake = split_stream()
    client = fake.client()
    second = numbers(fake, 1)[1]
    assert read(client, 1) == ["s1-0", "s1-1", "s1-2", "s1-3"]
    assert read(client, 1, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=second)[0] == "s1-1"
    assert read(client, 1, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=second)[0] == "s1-2"
    token = iterator(client, 1, "LATEST")
    assert client.get_records(ShardIterator=token)["Records"] == []
    fake.put("orders", 1, "new")
    assert [r["Data"] for r in client.get_records(ShardIterator=token)["Records"]] == [b"new"]


def test_starting_at_the_start_of_a_shard() -> None:
    fake = split_stream()
    start = listed(fake.client())[1]["SequenceNumberRange"]["StartingSequenceNumber"]
    for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        assert read(fake.client(), 1, kind, StartingSequenceNumber=start)[0] == "s1-0"


def test_by_time_in_seconds_milliseconds_or_as_a_datetime() -> None:
    # SDK v1 with CBOR off sends milliseconds (runs on KCL 1.15.3, November 2026).
    client = split_stream().client()
    then = CREATED + 803  # the second of s1-1
    for value in (then, then * 1000, float(then), datetime.fromtimestamp(then, UTC)):
        assert read(client, 1, "AT_TIMESTAMP", Timestamp=value)[0] == "s1-1"
    assert read(client, 1, "AT_TIMESTAMP", Timestamp=then + 0.5)[0] == "s1-2"
    assert read(client, 1, "AT_TIMESTAMP", Timestamp=CREATED + 3000) == []


def test_by_time_the_first_record_counts_not_the_earliest_time() -> None:
    rows = [{"t": 10, "data": "a", "arrival": 12}, {"t": 11, "data": "b", "arrival": 11}]
    fake = split_stream(shards=[{"id": 0, "range": ["0", "1"], "records": rows}])
    assert read(fake.client(), 0, "AT_TIMESTAMP", Timestamp=CREATED + 11.5) == ["a", "b"]


def test_a_time_before_the_horizon_starts_at_the_horizon() -> None:
    # GetShardIterator API reference.
    fake = split_stream()
    fake.clock.set(CREATED + 86400 + 1000)
    assert read(fake.client(), 1, "AT_TIMESTAMP", Timestamp=CREATED)[0] == "s1-2"


def test_a_number_before_the_horizon_starts_there_without_an_error() -> None:
    # Seen as silent loss in harlow/kinesis-consumer#125 and gosoline#1124.
    fake = split_stream()
    first = numbers(fake, 1)[0]
    fake.clock.set(CREATED + 86400 + 1000)
    found = read(fake.client(), 1, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=first)
    assert found == ["s1-2", "s1-3"]


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
def test_a_number_of_another_shard(kind: str) -> None:
    # Recorded answer of AWS, boto3#1478 and KCL#391.
    fake = split_stream()
    for number, other in ((numbers(fake, 1)[0], 1), (SHARD_401, 401)):
        assert refused(fake, 0, kind, StartingSequenceNumber=number) == (
            "InvalidArgumentException",
            f"Invalid StartingSequenceNumber. It encodes shardId-{other:012d}, "
            "while it was used in a call to a shard with shardId-000000000000",
        )


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
def test_a_number_of_another_stream(kind: str) -> None:
    # Recorded answer of AWS, kinesis-connectors#8; the whole text from kinesalite's tests.
    assert refused(split_stream(), 0, kind, StartingSequenceNumber=OTHER_STREAM) == (
        "InvalidArgumentException",
        f"StartingSequenceNumber {OTHER_STREAM} used in GetShardIterator on shard "
        "shardId-000000000000 in stream orders under account 123456789012 is invalid "
        "because it did not come from this stream.",
    )


def test_a_number_of_an_earlier_incarnation() -> None:
    # Recorded answer of AWS, as above: same shard id, same name, recreated.
    fake = new_stream(1)
    client = fake.client()
    old = client.put_record(StreamName="orders", Data=b"x", PartitionKey="k")["SequenceNumber"]
    client.delete_stream(StreamName="orders")
    fake.settle()
    client.create_stream(StreamName="orders", ShardCount=1)
    fake.settle()
    code, text = refused(fake, 0, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=old)
    assert code == "InvalidArgumentException"
    assert text.endswith("is invalid because it did not come from this stream.")


def test_a_younger_number_of_another_stream_and_one_past_the_end() -> None:
    fake = split_stream()
    younger = str(start(1, CREATED + 1000))
    beyond = str(end(0, CREATED - 3, CREATED + 601))
    for shard, number in ((1, younger), (0, beyond)):
        code, text = refused(fake, shard, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=number)
        assert code == "InvalidArgumentException"
        assert text.endswith("because it did not come from this stream.")


@pytest.mark.parametrize("number", ["6", "0", "9223372036854775807", "9" * 56])
def test_a_number_that_is_none(number: str) -> None:
    code, text = refused(split_stream(), 0, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=number)
    assert code == "InvalidArgumentException"
    assert text == (
        f"StartingSequenceNumber {number} used in GetShardIterator on shard "
        "shardId-000000000000 in stream orders under account 123456789012 is invalid."
    )


def test_a_sentinel_instead_of_a_number() -> None:
    # Runs on KCL 2.7.2 and 3.5.1, November 2026: GetShardIterator AT "SHARD_END".
    code, text = refused(
        split_stream(), 0, "AT_SEQUENCE_NUMBER", StartingSequenceNumber="SHARD_END"
    )
    assert code == "ValidationException"
    assert "at 'startingSequenceNumber'" in text


def test_after_the_end_of_a_closed_shard() -> None:
    # Recorded answer of AWS, kinesis-mock#1536.
    fake = split_stream()
    end = listed(fake.client())[0]["SequenceNumberRange"]["EndingSequenceNumber"]
    assert refused(fake, 0, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=end) == (
        "InvalidArgumentException",
        "Invalid SequenceNumber for ShardIteratorType AFTER_SEQUENCE_NUMBER, "
        "SequenceNumber has reached max possible value for the shard.",
    )


def test_at_the_end_of_a_closed_shard_either_way() -> None:
    # What AWS answers here is not known, hence the setting.
    fake = split_stream()
    client = fake.client()
    end = listed(client)[0]["SequenceNumberRange"]["EndingSequenceNumber"]
    token = iterator(client, 0, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=end)
    answer = client.get_records(ShardIterator=token)
    assert answer["Records"] == []
    assert len(answer["ChildShards"]) == 2
    fake.settings.refuse_at_end = True
    code, _ = refused(fake, 0, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=end)
    assert code == "InvalidArgumentException"


@pytest.mark.parametrize("how", ["unknown", "expired", "withdrawn"])
def test_a_shard_that_is_not_there(how: str) -> None:
    # The text of AWS; KCL takes it for the end of the shard.
    fake = split_stream()
    shard = 9 if how == "unknown" else 0
    if how == "expired":
        fake.clock.set(CREATED + 86400 + 601)
    if how == "withdrawn":
        fake.trim_shard("orders", 0)
    assert refused(fake, shard, "TRIM_HORIZON") == (
        "ResourceNotFoundException",
        f"Shard shardId-{shard:012d} in stream orders under account 123456789012 does not exist",
    )


def test_a_time_in_the_future() -> None:
    # kinesalite's tests, which run against AWS.
    fake = split_stream()
    now = CREATED + 3600
    assert refused(fake, 1, "AT_TIMESTAMP", Timestamp=now + 1) == (
        "InvalidArgumentException",
        "The timestampInMillis parameter cannot be greater than the currentTimestampInMillis. "
        f"timestampInMillis: {(now + 1) * 1000}, currentTimestampInMillis: {now * 1000}",
    )


def test_arguments_that_do_not_go_together() -> None:
    # kinesalite's tests, which run against AWS.
    fake = split_stream()
    number = numbers(fake, 1)[0]
    for kind, given in (
        ("LATEST", {"StartingSequenceNumber": number}),
        ("AT_SEQUENCE_NUMBER", {}),
    ):
        code, text = refused(fake, 1, kind, **given)
        assert code == "InvalidArgumentException"
        assert text.startswith("Must either specify (1) AT_SEQUENCE_NUMBER or AFTER_")
    code, text = refused(fake, 1, "AT_TIMESTAMP")
    assert code == "InvalidArgumentException"
    assert "Current request has no timestamp parameter." in text
    assert refused(fake, 1, "SOMEWHERE")[0] == "ValidationException"


def test_a_shards_epoch_may_move_and_its_numbers_stay_valid() -> None:
    # Seen on AWS: PUT-Firehose-aEhWz 2022 and a Japanese walk-through of 2017.
    fake = split_stream()
    old = numbers(fake, 1)[3]
    fake.stream("orders").shards[1].move_epoch(CREATED + 3600)
    new = str(fake.put("orders", 1, "new").number)
    assert int(new) > int(old)
    client = fake.client()
    assert read(client, 1, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=old) == ["new"]
    assert read(client, 1, "AT_SEQUENCE_NUMBER", StartingSequenceNumber=new) == ["new"]
