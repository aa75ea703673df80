"""PutRecord and PutRecords: which shard takes a record, and the number it gets."""

from __future__ import annotations

from reshardctl.testing.shards import parse
from tests.unit.testing.samples import iterator, listed, new_stream, read, refusal


def test_the_open_shard_that_owns_the_hash_takes_the_record(client):
    # PutRecord API reference: the MD5 of the partition key. md5("a") = 0cc175b9..., md5("b") =
    # 92eb5ffe..., md5("d") = 8277e091..., md5("c") = 4a8a08f0... (RFC 1321 gives a, and so on).
    found = {
        key: client.put_record(StreamName="orders", Data=b"x", PartitionKey=key)["ShardId"][-1]
        for key in "abcd"
    }
    assert found == {"a": "2", "b": "1", "c": "3", "d": "1"}


def test_an_explicit_hash_key_wins(client):
    put = {"StreamName": "orders", "Data": b"x", "PartitionKey": "a"}
    for key, shard in ((0, "2"), (2**126, "3"), (2**127, "1"), (2**128 - 1, "1")):
        assert client.put_record(**put, ExplicitHashKey=str(key))["ShardId"][-1] == shard
    code, text = refusal(client.put_record, **put, ExplicitHashKey=str(2**128))
    assert code == "InvalidArgumentException"
    assert text.startswith("Invalid ExplicitHashKey. ExplicitHashKey must be in the range")


def test_numbers_rise_within_a_shard_and_carry_their_second() -> None:
    fake = new_stream(1)
    client = fake.client()
    found = []
    for _ in range(5):
        answer = client.put_record(StreamName="orders", Data=b"x", PartitionKey="k")
        found.append(answer["SequenceNumber"])
        fake.clock.advance(0.4)
    assert [int(number) for number in found] == sorted({int(number) for number in found})
    numbers = [parse(number) for number in found]
    start = parse(listed(client)[0]["SequenceNumberRange"]["StartingSequenceNumber"])
    assert {number.epoch for number in numbers} == {start.epoch}
    assert [number.index for number in numbers] == [1, 2, 3, 4, 5]
    assert numbers[-1].time - numbers[0].time == 1


def test_arrival_may_lag_behind_the_number() -> None:
    # 0.3 to 2.5 s on 24 public records (tests/golden/sequence_numbers.json).
    fake = new_stream(1, arrival_lag=1.5)
    client = fake.client()
    number = client.put_record(StreamName="orders", Data=b"x", PartitionKey="k")["SequenceNumber"]
    (record,) = client.get_records(ShardIterator=iterator(client, 0))["Records"]
    assert record["ApproximateArrivalTimestamp"].timestamp() - parse(number).time == 1.5


def test_put_records(client):
    entries = [{"Data": key.encode(), "PartitionKey": key} for key in "abca"]
    answer = client.put_records(StreamName="orders", Records=entries)
    assert answer["FailedRecordCount"] == 0
    assert [record["ShardId"][-1] for record in answer["Records"]] == ["2", "1", "3", "2"]
    assert read(client, 2) == ["a", "a"]
    too_many = [entries[0]] * 501
    code, _ = refusal(client.put_records, StreamName="orders", Records=too_many)
    assert code == "ValidationException"


def test_putting_beside_the_api(fake):
    fake.put("orders", "shardId-000000000003", "n3-0", key="k3")
    assert read(fake.client(), 3) == ["n3-0"]
    assert fake.mutating_calls == []
