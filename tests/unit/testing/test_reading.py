"""GetRecords: pages, lag, the end of a closed shard, and what runs out."""

from __future__ import annotations

from datetime import UTC, datetime

from reshardctl.testing.faults import short_page
from tests.unit.testing.samples import (
    CREATED,
    SPLIT,
    iterator,
    new_stream,
    read,
    recreate,
    refusal,
    split_stream,
)

CHILDREN = [
    {
        "ShardId": f"shardId-{shard:012d}", "ParentShards": ["shardId-000000000000"],
        "HashKeyRange": {"StartingHashKey": low, "EndingHashKey": high},
    }
    for shard, low, high in (
        (2, "0", "85070591730234615865843651857942052863"),
        (3, "85070591730234615865843651857942052864", "170141183460469231731687303715884105727"),
    )
]  # fmt: skip


def test_pages_of_an_open_shard(client):
    first = client.get_records(ShardIterator=iterator(client, 1), Limit=3)
    assert [record["Data"] for record in first["Records"]] == [b"s1-0", b"s1-1", b"s1-2"]
    assert first["Records"][0]["PartitionKey"] == "k1"
    arrival = first["Records"][0]["ApproximateArrivalTimestamp"]
    assert arrival == datetime.fromtimestamp(CREATED + 10, UTC)
    second = client.get_records(ShardIterator=first["NextShardIterator"])
    assert [record["Data"] for record in second["Records"]] == [b"s1-3"]
    assert second["MillisBehindLatest"] == 0
    third = client.get_records(ShardIterator=second["NextShardIterator"])
    assert third["Records"] == []
    assert "NextShardIterator" in third
    assert "ChildShards" not in third


def test_the_lag_is_that_of_the_last_record_read(client):
    first = client.get_records(ShardIterator=iterator(client, 1), Limit=1)
    assert first["MillisBehindLatest"] == (3600 - 10) * 1000


def test_a_closed_shard_ends_with_its_children_and_no_iterator(client):
    # KCL 3.5.1 DataRetrievalUtil: one without the other is an invalid answer.
    last = client.get_records(ShardIterator=iterator(client, 0))
    assert len(last["Records"]) == 4
    assert ("NextShardIterator" in last) != ("ChildShards" in last)
    end = client.get_records(ShardIterator=last["NextShardIterator"])
    assert end["Records"] == []
    assert "NextShardIterator" not in end
    assert end["ChildShards"] == CHILDREN


def test_the_end_may_come_with_the_last_records(fake, client):
    fake.settings.end_with_last_records = True
    first = client.get_records(ShardIterator=iterator(client, 0), Limit=3)
    assert "ChildShards" not in first
    last = client.get_records(ShardIterator=first["NextShardIterator"])
    assert [record["Data"] for record in last["Records"]] == [b"s0-3"]
    assert last["ChildShards"] == CHILDREN
    assert "NextShardIterator" not in last


def test_latest_on_a_closed_shard_asks_for_its_children(client):
    # KCL 3.5.1 KinesisShardDetector, getChildShards.
    answer = client.get_records(ShardIterator=iterator(client, 0, "LATEST"))
    assert answer["ChildShards"] == CHILDREN


def test_a_merged_child_names_both_parents() -> None:
    fake = new_stream(2)
    client = fake.client()
    client.merge_shards(
        StreamName="orders",
        ShardToMerge="shardId-000000000000",
        AdjacentShardToMerge="shardId-000000000001",
    )
    fake.settle()
    for shard in (0, 1):
        (child,) = client.get_records(ShardIterator=iterator(client, shard))["ChildShards"]
        assert child["ParentShards"] == ["shardId-000000000000", "shardId-000000000001"]


def test_an_iterator_lives_five_minutes(fake, client):
    # GetShardIterator API reference; the text from kinesalite's tests.
    token = iterator(client, 1)
    fake.clock.advance(300)
    client.get_records(ShardIterator=token)
    fake.clock.advance(1)
    code, text = refusal(client.get_records, ShardIterator=token)
    assert code == "ExpiredIteratorException"
    assert text.startswith("Iterator expired. The iterator was created at time Sat Nov 21 04:37:47")
    assert text.endswith("further in the future than the tolerated delay of 300000 milliseconds.")


def test_an_iterator_that_is_none(client):
    code, text = refusal(client.get_records, ShardIterator="abc")
    assert (code, text) == ("InvalidArgumentException", "Invalid ShardIterator.")
    token = client.list_shards(StreamName="orders", MaxResults=1)["NextToken"]
    assert refusal(client.get_records, ShardIterator=token)[0] == "InvalidArgumentException"


def test_an_iterator_does_not_survive_its_stream() -> None:
    fake = new_stream(1)
    token = iterator(fake.client(), 0)
    recreate(fake, 1)
    code, _ = refusal(fake.client().get_records, ShardIterator=token)
    assert code == "ResourceNotFoundException"


def test_records_go_when_their_time_is_over(fake, client):
    fake.clock.set(CREATED + 86400 + 10)
    assert read(client, 1) == ["s1-0", "s1-1", "s1-2", "s1-3"]
    fake.clock.advance(1)
    assert read(client, 1) == ["s1-1", "s1-2", "s1-3"]
    fake.clock.advance(86400)
    assert read(client, 1) == []


def test_a_shard_may_expire_under_its_iterator() -> None:
    fake = split_stream(now=86400 + 500)
    client = fake.client()
    token = iterator(client, 0)
    fake.clock.advance(200)
    code, text = refusal(client.get_records, ShardIterator=token)
    assert code == "ResourceNotFoundException"
    assert text.endswith("does not exist")


def test_five_reads_a_second_a_shard_if_wanted(fake, client):
    # "Each shard can support up to five read transactions per second" (GetRecords API reference).
    fake.settings.reads_per_second = 5
    token = iterator(client, 1)
    for _ in range(5):
        client.get_records(ShardIterator=token)
    code, _ = refusal(client.get_records, ShardIterator=token)
    assert code == "ProvisionedThroughputExceededException"
    assert read(client, 2) == []
    fake.clock.advance(1)
    client.get_records(ShardIterator=token)


def test_an_answer_holds_ten_megabytes_at_most() -> None:
    # GetRecords API reference.
    fake = split_stream(shards=[SPLIT["shards"][1] | {"id": 0, "records": []}])
    for _ in range(12):
        fake.put("orders", 0, b"x" * 1_000_000)
    client = fake.client()
    first = client.get_records(ShardIterator=iterator(client, 0))
    assert len(first["Records"]) == 10
    assert len(client.get_records(ShardIterator=first["NextShardIterator"])["Records"]) == 2


def test_an_empty_answer_in_the_middle_of_a_shard(fake, client):
    fake.faults.add("GetRecords", short_page(0))
    empty = client.get_records(ShardIterator=iterator(client, 0))
    assert empty["Records"] == []
    assert empty["MillisBehindLatest"] > 0
    assert len(client.get_records(ShardIterator=empty["NextShardIterator"])["Records"]) == 4
