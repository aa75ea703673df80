"""SplitShard, MergeShards and UpdateShardCount, and what is listed meanwhile."""

from __future__ import annotations

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from reshardctl.testing import FakeKinesis
from reshardctl.testing.shards import parse
from tests.unit.testing.samples import (
    iterator,
    listed,
    new_stream,
    refusal,
    reshard_to,
    split_stream,
)

SPACE = 2**128
HALF = str(SPACE // 2)


def name(shard: int) -> str:
    return f"shardId-{shard:012d}"


def split(fake: FakeKinesis, shard: int, at: str) -> None:
    fake.client().split_shard(StreamName="orders", ShardToSplit=name(shard), NewStartingHashKey=at)


def status(fake: FakeKinesis) -> str:
    answer = fake.client().describe_stream_summary(StreamName="orders")
    found: str = answer["StreamDescriptionSummary"]["StreamStatus"]
    return found


def lineage(fake: FakeKinesis) -> dict[int, tuple[int, ...]]:
    """The parents of every listed shard."""
    keys = ("ParentShardId", "AdjacentParentShardId")
    return {
        number: tuple(int(shard[key][8:]) for key in keys if key in shard)
        for number, shard in listed(fake.client()).items()
    }


def open_ranges(fake: FakeKinesis) -> list[tuple[int, int]]:
    shards = listed(fake.client(), ShardFilter={"Type": "AT_LATEST"}).values()
    ranges = [shard["HashKeyRange"] for shard in shards]
    return sorted((int(r["StartingHashKey"]), int(r["EndingHashKey"])) for r in ranges)


def test_the_old_topology_is_listed_while_updating_then_all_flips() -> None:
    # Seen in 2015 (brandur.org on Kinesis by example).
    fake = new_stream(1)
    split(fake, 0, HALF)
    assert status(fake) == "UPDATING"
    assert list(listed(fake.client())) == [0]
    assert "EndingSequenceNumber" not in listed(fake.client())[0]["SequenceNumberRange"]
    fake.clock.advance(4.9)
    assert list(listed(fake.client())) == [0]
    fake.clock.advance(0.1)
    assert status(fake) == "ACTIVE"
    assert lineage(fake) == {0: (), 1: (0,), 2: (0,)}
    assert open_ranges(fake) == equal_ranges(2)
    assert listed(fake.client())[1]["HashKeyRange"]["StartingHashKey"] == "0", "the lower child"


def test_numbers_of_a_split() -> None:
    # Six closed shards and ten children of public streams (tests/golden/sequence_numbers.json):
    # index 2**63 - 1 and the second of the close; children one second later.
    fake = new_stream(1)
    split(fake, 0, HALF)
    fake.settle()
    shards = listed(fake.client())
    end = parse(shards[0]["SequenceNumberRange"]["EndingSequenceNumber"])
    assert end.index == 0x7FFFFFFFFFFFFFFF
    assert end.time == int(fake.clock.now())
    for child in (1, 2):
        start = parse(shards[child]["SequenceNumberRange"]["StartingSequenceNumber"])
        assert (start.epoch, start.time, start.index) == (end.time + 1, end.time + 1, 0)


def test_puts_go_to_the_parent_until_the_flip_and_to_the_children_after() -> None:
    fake = new_stream(1)
    client = fake.client()
    split(fake, 0, HALF)
    put = {"StreamName": "orders", "Data": b"x", "PartitionKey": "k", "ExplicitHashKey": HALF}
    assert client.put_record(**put)["ShardId"] == name(0)
    fake.settle()
    answer = client.put_record(**put)
    assert answer["ShardId"] == name(2)
    start = listed(client)[2]["SequenceNumberRange"]["StartingSequenceNumber"]
    assert int(answer["SequenceNumber"]) > int(start)


def test_a_merge_names_the_lower_shard_first() -> None:
    # kinesalite's tests, which run against AWS too: "should return InvalidArgumentException if
    # adjacency is inverted".
    fake = new_stream(2)
    merge = fake.client().merge_shards
    with pytest.raises(ClientError, match="are not an adjacent pair of shards eligible"):
        merge(StreamName="orders", ShardToMerge=name(1), AdjacentShardToMerge=name(0))
    merge(StreamName="orders", ShardToMerge=name(0), AdjacentShardToMerge=name(1))
    fake.settle()
    assert lineage(fake) == {0: (), 1: (), 2: (0, 1)}
    assert open_ranges(fake) == [(0, SPACE - 1)]


def test_four_to_three_as_aws_did_it() -> None:
    # Recorded answer of AWS, risingwave#9961: split 1, merge 0+4, split 2, merge 5+7, merge 8+3.
    fake = new_stream(4)
    answer = reshard_to(fake, 3)
    assert (answer["CurrentShardCount"], answer["TargetShardCount"]) == (4, 3)
    fake.clock.advance(1)  # the first of the five steps: its children are known to who reads on
    assert list(listed(fake.client())) == [0, 1, 2, 3]
    children = fake.client().get_records(ShardIterator=iterator(fake.client(), 1))["ChildShards"]
    assert [child["ShardId"] for child in children] == [name(4), name(5)]
    fake.settle()
    made = {4: (1,), 5: (1,), 6: (0, 4), 7: (2,), 8: (2,), 9: (5, 7), 10: (8, 3)}
    assert lineage(fake) == dict.fromkeys(range(4), ()) | made
    assert open_ranges(fake) == equal_ranges(3)


def equal_ranges(count: int) -> list[tuple[int, int]]:
    edges = [i * SPACE // count for i in range(count + 1)]
    return [(edges[i], edges[i + 1] - 1) for i in range(count)]


@pytest.mark.parametrize(("current", "target"), [(1, 2), (2, 1), (3, 5), (5, 3), (7, 13), (10, 5)])
def test_any_target_leaves_equal_shards_and_a_sound_lineage(current: int, target: int) -> None:
    fake = new_stream(current)
    reshard_to(fake, target)
    fake.settle()
    assert open_ranges(fake) == equal_ranges(target)
    shards = listed(fake.client())
    for number, parents in lineage(fake).items():
        assert all(parent < number for parent in parents)
        span = shards[number]["SequenceNumberRange"]
        if "EndingSequenceNumber" in span:
            assert int(span["EndingSequenceNumber"]) > int(span["StartingSequenceNumber"])


@pytest.mark.parametrize("target", [1, 7])
def test_no_more_than_double_and_no_less_than_half(target: int) -> None:
    # UpdateShardCount API reference; which text AWS gives is not recorded.
    with pytest.raises(ClientError, match="InvalidArgumentException"):
        reshard_to(new_stream(3), target)


def test_ten_updates_a_day() -> None:
    # UpdateShardCount API reference.
    fake = new_stream(1)
    for turn in range(10):
        reshard_to(fake, 1 + (turn + 1) % 2)
        fake.settle()
    with pytest.raises(ClientError, match="LimitExceededException"):
        reshard_to(fake, 2)
    fake.clock.advance(86400)
    reshard_to(fake, 2)


def test_a_stream_that_changes_is_left_alone() -> None:
    fake = new_stream(2)
    split(fake, 0, str(SPACE // 4))
    client = fake.client()
    for question, params in (
        (client.split_shard, {"ShardToSplit": name(1), "NewStartingHashKey": str(SPACE * 3 // 4)}),
        (client.merge_shards, {"ShardToMerge": name(0), "AdjacentShardToMerge": name(1)}),
    ):
        code, text = refusal(question, StreamName="orders", **params)
        assert code == "ResourceInUseException"
        assert text.endswith("not ACTIVE, instead in state UPDATING")


@pytest.mark.parametrize("at", [0, 1, SPACE // 2 - 1, SPACE // 2, SPACE - 1])
def test_a_split_needs_a_key_inside_the_shard(at: int) -> None:
    # kinesalite's tests, which run against AWS.
    fake = new_stream(2)
    question = fake.client().split_shard
    code, text = refusal(
        question, StreamName="orders", ShardToSplit=name(0), NewStartingHashKey=str(at)
    )
    assert code == "InvalidArgumentException"
    assert text == (
        f"NewStartingHashKey {at} used in SplitShard() on shard {name(0)} in stream orders "
        "under account 123456789012 is not both greater than one plus the shard's "
        f"StartingHashKey 0 and less than the shard's EndingHashKey {SPACE // 2 - 1}."
    )


@pytest.mark.parametrize(("method", "params", "code", "text"), [
    # Recorded answer of AWS, kinesalite#109.
    ("split_shard", {"ShardToSplit": name(0), "NewStartingHashKey": str(SPACE // 4)},
     "InvalidArgumentException",
     f"Shard {name(0)} in stream orders under account 123456789012 has already been merged or "
     "split, and thus is not eligible for merging or splitting."),
    ("split_shard", {"ShardToSplit": name(9), "NewStartingHashKey": str(SPACE // 4)},
     "ResourceNotFoundException",
     f"Could not find shard {name(9)} in stream orders under account 123456789012."),
    ("merge_shards", {"ShardToMerge": name(1), "AdjacentShardToMerge": name(2)},
     "InvalidArgumentException", ".* are not an adjacent pair of shards eligible for merging"),
], ids=["closed", "unknown", "apart"])  # fmt: skip
def test_shards_that_cannot_be_resharded(method, params, code, text):
    question = getattr(split_stream().client(), method)
    found, said = refusal(question, StreamName="orders", **params)
    assert found == code and re.fullmatch(text, said), said


def on_demand() -> FakeKinesis:
    fake = FakeKinesis()
    fake.client().create_stream(StreamName="orders", StreamModeDetails={"StreamMode": "ON_DEMAND"})
    fake.settle()
    return fake


def test_on_demand_starts_with_four_and_doubles_by_itself() -> None:
    # Kinesis Data Streams developer guide, capacity modes.
    fake = on_demand()
    assert len(open_ranges(fake)) == 4
    fake.double("orders")
    assert status(fake) == "UPDATING"
    fake.settle()
    assert len(open_ranges(fake)) == 8
    assert lineage(fake)[4] == (0,)
    assert lineage(fake)[11] == (3,)


@pytest.mark.parametrize(("method", "params"), [
    ("split_shard", {"ShardToSplit": name(0), "NewStartingHashKey": "1000"}),
    ("merge_shards", {"ShardToMerge": name(0), "AdjacentShardToMerge": name(1)}),
    ("update_shard_count", {"TargetShardCount": 8, "ScalingType": "UNIFORM_SCALING"}),
])  # fmt: skip
def test_on_demand_refuses_to_be_resharded(method: str, params: dict[str, Any]) -> None:
    # ValidationException in the three API references: only for the provisioned capacity mode.
    question = getattr(on_demand().client(), method)
    assert refusal(question, StreamName="orders", **params)[0] == "ValidationException"


def test_reshards_without_any_duration() -> None:
    fake = new_stream(1, reshard_seconds=0.0)
    split(fake, 0, HALF)
    split(fake, 1, str(SPACE // 4))
    assert lineage(fake) == {0: (), 1: (0,), 2: (0,), 3: (1,), 4: (1,)}
    starts = [
        parse(shard["SequenceNumberRange"]["StartingSequenceNumber"]).time
        for shard in listed(fake.client()).values()
    ]
    now = int(fake.clock.now())
    assert starts[1:] == [now + 1, now + 1, now + 2, now + 2]
