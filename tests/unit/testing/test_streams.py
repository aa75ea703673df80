"""Streams as a whole: birth, description, death, and a second life under the same name."""

from __future__ import annotations

from datetime import UTC, datetime

from reshardctl.testing import FakeKinesis
from reshardctl.testing.shards import parse
from tests.unit.testing.samples import CREATED, listed, new_stream, refusal, split_stream


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
    client = split_stream(retention_hours=48).client()
    summary = client.describe_stream_summary(StreamName="orders")["StreamDescriptionSummary"]
    assert summary["OpenShardCount"] == 3
    assert summary["StreamCreationTimestamp"] == datetime.fromtimestamp(CREATED, UTC)
    assert summary["StreamCreationTimestamp"].tzinfo is not None
    assert summary["RetentionPeriodHours"] == 48
    assert summary["StreamModeDetails"] == {"StreamMode": "PROVISIONED"}
    assert summary["StreamStatus"] == "ACTIVE"


def test_the_summary_counts_what_is_listed() -> None:
    fake = new_stream(2)
    client = fake.client()

    def count() -> int:
        answer = client.describe_stream_summary(StreamName="orders")
        found: int = answer["StreamDescriptionSummary"]["OpenShardCount"]
        return found

    client.update_shard_count(
        StreamName="orders", TargetShardCount=4, ScalingType="UNIFORM_SCALING"
    )
    assert count() == 2
    fake.clock.advance(3)
    assert count() == 2
    fake.settle()
    assert count() == 4


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
    client = new_stream(1).client()
    code, text = refusal(client.create_stream, StreamName="orders", ShardCount=1)
    assert code == "ResourceInUseException"
    assert text == "Stream orders under account 123456789012 already exists."


def test_a_deleted_stream_is_deleting_then_gone() -> None:
    fake = new_stream(1)
    client = fake.client()
    client.delete_stream(StreamName="orders")
    answer = client.describe_stream_summary(StreamName="orders")
    assert answer["StreamDescriptionSummary"]["StreamStatus"] == "DELETING"
    put = {"Data": b"x", "PartitionKey": "k"}
    code, _ = refusal(client.put_record, StreamName="orders", **put)
    assert code == "ResourceNotFoundException"
    fake.settle()
    code, _ = refusal(client.describe_stream_summary, StreamName="orders")
    assert code == "ResourceNotFoundException"


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
    summary = client.describe_stream_summary(StreamName="orders")["StreamDescriptionSummary"]
    assert parse(start).epoch == summary["StreamCreationTimestamp"].timestamp() - 3
    assert parse(last).time < summary["StreamCreationTimestamp"].timestamp()


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


def test_the_name_may_be_given_as_an_arn() -> None:
    client = split_stream().client()
    arn = client.describe_stream_summary(StreamName="orders")["StreamDescriptionSummary"][
        "StreamARN"
    ]
    by_arn = client.describe_stream_summary(StreamARN=arn)["StreamDescriptionSummary"]
    assert by_arn["StreamName"] == "orders"
    code, _ = refusal(client.describe_stream_summary, StreamARN=arn, StreamName="others")
    assert code == "InvalidArgumentException"
    assert refusal(client.describe_stream_summary)[0] == "InvalidArgumentException"
