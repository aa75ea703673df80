"""Streams as a whole: birth, description, retention, death, a second life, and their clock."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis
from reshardctl.testing.fake import Client
from reshardctl.testing.shards import parse
from reshardctl.testing.stream import VirtualClock
from tests.unit.testing.samples import (
    CREATED,
    listed,
    new_stream,
    read,
    refusal,
    reshard_to,
    split_stream,
)


def test_a_stream_is_creating_then_active() -> None:
    fake = FakeKinesis(start=1_572_297_168)
    client = fake.client()
    client.create_stream(StreamName="orders", ShardCount=3)
    described = client.describe_stream(StreamName="orders")["StreamDescription"]
    assert described["StreamStatus"] == "CREATING"
    assert described["Shards"] == []
    fake.settle()
    described = client.describe_stream(StreamName="orders")["StreamDescription"]
    assert described["StreamStatus"] == "ACTIVE"
    assert described["StreamARN"] == "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
    # The AWS CLI reference (describe-stream): a stream of three shards created in this second.
    assert [s["SequenceNumberRange"]["StartingSequenceNumber"] for s in described["Shards"]] == [
        "49600871682957036442365024926191073437251060580128653314",
        "49600871682979337187563555549332609155523708941634633746",
        "49600871683001637932762086172474144873796357303140614178",
    ]
    assert [s["HashKeyRange"]["EndingHashKey"] for s in described["Shards"]] == [
        "113427455640312821154458202477256070484",
        "226854911280625642308916404954512140969",
        "340282366920938463463374607431768211455",
    ]


def test_a_stream_is_deleted_while_it_is_created() -> None:
    # kinesalite's tests, which run against AWS too: "should allow stream to be deleted while it is
    # being created".
    fake = FakeKinesis()
    client = fake.client()
    client.create_stream(StreamName="orders", ShardCount=1)
    client.delete_stream(StreamName="orders")
    described = client.describe_stream(StreamName="orders")["StreamDescription"]
    assert (described["StreamStatus"], described["Shards"]) == ("DELETING", [])
    fake.settle()
    code, _ = refusal(client.describe_stream, StreamName="orders")
    assert code == "ResourceNotFoundException"


def test_the_summary() -> None:
    summary = described(split_stream(retention_hours=48).client())
    assert summary["OpenShardCount"] == 3
    assert summary["StreamCreationTimestamp"] == datetime.fromtimestamp(CREATED, UTC)
    assert summary["StreamCreationTimestamp"].tzinfo is not None
    assert summary["RetentionPeriodHours"] == 48
    assert summary["StreamModeDetails"] == {"StreamMode": "PROVISIONED"}
    assert summary["StreamStatus"] == "ACTIVE"


def described(client: Client) -> dict[str, Any]:
    """The summary of "orders"."""
    answer = client.describe_stream_summary(StreamName="orders")
    found: dict[str, Any] = answer["StreamDescriptionSummary"]
    return found


def test_the_summary_counts_what_is_listed() -> None:
    fake = new_stream(2)
    client = fake.client()
    reshard_to(fake, 4)
    for seconds in (0, 3):
        fake.clock.advance(seconds)
        assert described(client)["OpenShardCount"] == 2
    fake.settle()
    assert described(client)["OpenShardCount"] == 4


def test_describe_stream_pages_by_a_hundred() -> None:
    # DescribeStream API reference.
    client = new_stream(150).client()
    first = client.describe_stream(StreamName="orders", Limit=1000)["StreamDescription"]
    assert len(first["Shards"]) == 100
    assert first["HasMoreShards"] is True
    rest = client.describe_stream(
        StreamName="orders", ExclusiveStartShardId=first["Shards"][-1]["ShardId"]
    )["StreamDescription"]
    assert len(rest["Shards"]) == 50
    assert rest["HasMoreShards"] is False


def test_a_name_is_given_once() -> None:
    create = new_stream(1).client().create_stream
    assert refusal(create, StreamName="orders", ShardCount=1) == (
        "ResourceInUseException", "Stream orders under account 123456789012 already exists."
    )


def test_a_deleted_stream_is_deleting_then_gone() -> None:
    fake = new_stream(1)
    client = fake.client()
    client.delete_stream(StreamName="orders")
    assert described(client)["StreamStatus"] == "DELETING"
    gone = "ResourceNotFoundException"
    put = {"StreamName": "orders", "Data": b"x", "PartitionKey": "k"}
    assert refusal(client.put_record, **put)[0] == gone
    fake.settle()
    assert refusal(client.describe_stream_summary, StreamName="orders")[0] == gone


def test_ids_start_again_and_numbers_do_not() -> None:
    # Warned of by KCL's maintainers in KCL#187.
    fake = new_stream(1, create_seconds=0.0, delete_seconds=0.0)
    client = fake.client()
    last = client.put_record(StreamName="orders", Data=b"x", PartitionKey="k")["SequenceNumber"]
    client.delete_stream(StreamName="orders")
    client.create_stream(StreamName="orders", ShardCount=1)
    (shard,) = listed(client).values()
    assert shard["ShardId"] == "shardId-000000000000"
    start = shard["SequenceNumberRange"]["StartingSequenceNumber"]
    assert int(start) > int(last)
    born = described(client)["StreamCreationTimestamp"].timestamp()
    assert parse(start).epoch == born - 3
    assert parse(last).time < born


def test_streams_are_listed_by_name() -> None:
    fake = FakeKinesis()
    client = fake.client()
    for name in ("b", "c", "a"):
        client.create_stream(StreamName=name, ShardCount=1)
    fake.client(region_name="eu-west-1").create_stream(StreamName="d", ShardCount=1)
    first = client.list_streams(Limit=2)
    assert (first["StreamNames"], first["HasMoreStreams"]) == (["a", "b"], True)
    rest = client.list_streams(NextToken=first["NextToken"])
    assert (rest["StreamNames"], rest["HasMoreStreams"]) == (["c"], False)
    assert client.describe_limits()["OpenShardCount"] == 3


def test_the_name_may_be_given_as_an_arn(client):
    arn = described(client)["StreamARN"]
    by_arn = client.describe_stream_summary(StreamARN=arn)["StreamDescriptionSummary"]
    assert by_arn["StreamName"] == "orders"
    for wrong in ({"StreamARN": arn, "StreamName": "others"}, {}):
        code, _ = refusal(client.describe_stream_summary, **wrong)
        assert code == "InvalidArgumentException"


# retention: more does not bring back what is gone, less drops at once (API references)


def test_less_drops_at_once() -> None:
    fake = split_stream(retention_hours=72, now=86400 + 1000)
    client = fake.client()
    assert list(listed(client)) == [0, 1, 2, 3]
    client.decrease_stream_retention_period(StreamName="orders", RetentionPeriodHours=24)
    assert list(listed(client)) == [1, 2, 3]
    assert read(client, 1) == ["s1-2", "s1-3"]


def test_more_brings_nothing_back() -> None:
    fake = split_stream(now=86400 + 1000)
    client = fake.client()
    client.increase_stream_retention_period(StreamName="orders", RetentionPeriodHours=72)
    assert list(listed(client)) == [1, 2, 3]
    assert read(client, 1) == ["s1-2", "s1-3"]
    fake.clock.set(CREATED + 3 * 86400)
    assert read(client, 1) == ["s1-2", "s1-3"]
    fake.clock.advance(1604)
    assert read(client, 1) == ["s1-3"]


def test_what_expires_between_two_calls_is_gone_for_good() -> None:
    fake = split_stream(now=86400 + 599)
    fake.clock.advance(2)
    client = fake.client()
    client.increase_stream_retention_period(StreamName="orders", RetentionPeriodHours=8760)
    assert list(listed(client)) == [1, 2, 3]


@pytest.mark.parametrize(("way", "hours", "code", "text"), [
    # kinesalite's tests, which run against AWS.
    ("increase", 24, "InvalidArgumentException", r".*can not be shorter than existing "
     r"retention period \(48 hours\). Use DecreaseRetentionPeriod API."),
    ("decrease", 72, "InvalidArgumentException",
     r".*can not be longer than existing retention period \(48 hours\).*"),
    ("decrease", 23, "InvalidArgumentException", "Minimum allowed retention period is 24 hours..*"),
    ("increase", 8761, "ValidationException", ".*"),
])  # fmt: skip
def test_the_wrong_way_and_too_short_or_long(way: str, hours: int, code: str, text: str) -> None:
    client = split_stream(retention_hours=48).client()
    question = getattr(client, f"{way}_stream_retention_period")
    found, said = refusal(question, StreamName="orders", RetentionPeriodHours=hours)
    assert found == code and re.fullmatch(text, said), said


# the virtual clock


def test_it_stands_until_it_is_moved_and_never_runs_backwards() -> None:
    clock = VirtualClock(1000)
    assert clock.now() == 1000
    assert clock.advance(1.5) == 1001.5
    clock.set(2000)
    with pytest.raises(ValueError, match="backwards"):
        clock.set(1999)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)
    assert clock.now() == 2000


def test_it_may_run_with_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    real = 50.0
    monkeypatch.setattr(time, "monotonic", lambda: real)
    clock = VirtualClock(1000, ticking=True)
    real = 52.5
    assert clock.now() == 1002.5
    clock.advance(10)
    assert clock.now() == 1012.5
    clock.set(5000)
    real = 53.5
    assert clock.now() == 5001
