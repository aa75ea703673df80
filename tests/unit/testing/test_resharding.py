"""SplitShard, MergeShards and UpdateShardCount, and what is listed meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from reshardctl.testing import FakeKinesis
from reshardctl.testing.shards import parse
from tests.unit.testing.samples import iterator, listed, new_stream, refusal, split_stream

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
    assert open_ranges(fake) == [(0, SPACE // 2 - 1), (SPACE // 2, SPACE - 1)]


def test_the_lower_child_has_the_lower_id() -> None:
    fake = new_stream(1)
    split(fake, 0, HALF)
    fake.settle()
    assert listed(fake.client())[1]["HashKeyRange"]["StartingHashKey"] == "0"


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
    with pytest.raises(ClientError, match="are not an adjacent pair of shards eligible"):
        fake.client().merge_shards(
            StreamName="orders", ShardToMerge=name(1), AdjacentShardToMerge=name(0)
        )
    fake.client().merge_shards(
        StreamName="orders", ShardToMerge=name(0), AdjacentShardToMerge=name(1)
    )
    fake.settle()
    assert lineage(fake) == {0: (), 1: (), 2: (0, 1)}
    assert open_ranges(fake) == [(0, SPACE - 1)]


def test_four_to_three_as_aws_did_it() -> None:
    # Recorded answer of AWS, risingwave#9961: split 1, merge 0+4, split 2, merge 5+7, merge 8+3.
    fake = new_stream(4)
    answer = fake.client().update_shard_count(
        StreamName="orders", TargetShardCount=3, ScalingType="UNIFORM_SCALING"
    )
    assert (answer["CurrentShardCount"], answer["TargetShardCount"]) == (4, 3)
    assert list(listed(fake.client())) == [0, 1, 2, 3]
    fake.settle()
    assert lineage(fake) == {
        **dict.fromkeys(range(4), ()),
        4: (1,),
        5: (1,),
        6: (0, 4),
        7: (2,),
        8: (2,),
        9: (5, 7),
        10: (8, 3),
    }
    edges = [i * SPACE // 3 for i in range(4)]
    assert open_ranges(fake) == [(edges[i], edges[i + 1] - 1) for i in range(3)]


@pytest.mark.parametrize(("current", "target"), [(1, 2), (2, 1), (3, 5), (5, 3), (7, 13), (10, 5)])
def test_any_target_leaves_equal_shards_and_a_sound_lineage(current: int, target: int) -> None:
    fake = new_stream(current)
    fake.client().update_shard_count(
        StreamName="orders", TargetShardCount=target, ScalingType="UNIFORM_SCALING"
    )
    fake.settle()
    edges = [i * SPACE // target for i in range(target + 1)]
    assert open_ranges(fake) == [(edges[i], edges[i + 1] - 1) for i in range(target)]
    shards = listed(fake.client())
    for number, parents in lineage(fake).items():
        assert all(parent < number for parent in parents)
        span = shards[number]["SequenceNumberRange"]
        if "EndingSequenceNumber" in span:
            assert int(span["EndingSequenceNumber"]) > int(span["StartingSequenceNumber"])


@pytest.mark.parametrize("target", [1, 7])
def test_no_more_than_double_and_no_less_than_half(target: int) -> None:
    # UpdateShardCount API reference; which text AWS gives is not recorded.
    question = new_stream(3).client().update_shard_count
    code, _ = refusal(
        question, StreamName="orders", TargetShardCount=target, ScalingType="UNIFORM_SCALING"
    )
    assert code == "InvalidArgumentException"


def test_ten_updates_a_day() -> None:
    # UpdateShardCount API reference.
    fake = new_stream(1)
    ask = {"StreamName": "orders", "ScalingType": "UNIFORM_SCALING"}
    for turn in range(10):
        fake.client().update_shard_count(TargetShardCount=1 + (turn + 1) % 2, **ask)
        fake.settle()
    question = fake.client().update_shard_count
    assert refusal(question, TargetShardCount=2, **ask)[0] == "LimitExceededException"
    fake.clock.advance(86400)
    question(TargetShardCount=2, **ask)


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


def test_shards_that_cannot_be_resharded() -> None:
    client = split_stream().client()
    closed = {"ShardToSplit": name(0), "NewStartingHashKey": str(SPACE // 4)}
    code, text = refusal(client.split_shard, StreamName="orders", **closed)
    # Recorded answer of AWS, kinesalite#109.
    assert (code, text) == (
        "InvalidArgumentException",
        f"Shard {name(0)} in stream orders under account 123456789012 has already been merged or "
        "split, and thus is not eligible for merging or splitting.",
    )
    unknown = {"ShardToSplit": name(9), "NewStartingHashKey": str(SPACE // 4)}
    code, text = refusal(client.split_shard, StreamName="orders", **unknown)
    assert code == "ResourceNotFoundException"
    assert text == f"Could not find shard {name(9)} in stream orders under account 123456789012."
    apart = {"ShardToMerge": name(1), "AdjacentShardToMerge": name(2)}
    code, text = refusal(client.merge_shards, StreamName="orders", **apart)
    assert code == "InvalidArgumentException"
    assert text.endswith("are not an adjacent pair of shards eligible for merging")


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


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("split_shard", {"ShardToSplit": name(0), "NewStartingHashKey": "1000"}),
        ("merge_shards", {"ShardToMerge": name(0), "AdjacentShardToMerge": name(1)}),
        ("update_shard_count", {"TargetShardCount": 8, "ScalingType": "UNIFORM_SCALING"}),
    ],
)
def test_on_demand_refuses_to_be_resharded(method: str, params: dict[str, Any]) -> None:
    # ValidationException in the three API references: only for the provisioned capacity mode.
    question = getattr(on_demand().client(), method)
    assert refusal(question, StreamName="orders", **params)[0] == "ValidationException"


def test_the_end_of_a_parent_is_readable_before_its_children_are_listed() -> None:
    fake = new_stream(4)
    fake.client().update_shard_count(
        StreamName="orders", TargetShardCount=3, ScalingType="UNIFORM_SCALING"
    )
    fake.clock.advance(1)  # the first of the five steps
    client = fake.client()
    assert list(listed(client)) == [0, 1, 2, 3]
    children = client.get_records(ShardIterator=iterator(client, 1))["ChildShards"]
    assert [child["ShardId"] for child in children] == [name(4), name(5)]


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
