"""ListShards: paging, tokens, filters, expiry and torn views."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis
from reshardctl.testing.faults import cut_page, expired_token, short_page, torn_listing
from tests.unit.testing.samples import (
    CREATED,
    listed,
    new_stream,
    pages,
    recreate,
    refusal,
    split_stream,
)

ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(CREATED + seconds, UTC)


@pytest.fixture(scope="module")
def large() -> FakeKinesis:
    return new_stream(2500)


@pytest.mark.parametrize(("asked", "first"), [
    # ListShards API reference: MaxResults up to 10000 is accepted, 1000 is what comes.
    ({}, 1000), ({"MaxResults": 1000}, 1000), ({"MaxResults": 10000}, 1000), ({"MaxResults": 7}, 7),
], ids=str)  # fmt: skip
def test_pages_join_without_gap_or_repeat(large, asked, first):
    found = list(pages(large.client(), StreamName="orders", **asked))
    assert len(found[0]) == first
    assert [name for page in found for name in page] == [f"shardId-{n:012d}" for n in range(2500)]


@pytest.mark.parametrize("size", [0, 10001])
def test_max_results_has_its_limits(large: FakeKinesis, size: int) -> None:
    code, text = refusal(large.client().list_shards, StreamName="orders", MaxResults=size)
    assert code == "ValidationException"
    assert f"Value '{size}' at 'maxResults' failed to satisfy constraint" in text


@pytest.mark.parametrize(("name", "value"), [
    ("StreamName", "orders"),  # botocore#2009
    ("ExclusiveStartShardId", "shardId-000000000000"),  # amazon-kinesis-scaling-utils#82
    ("ShardFilter", {"Type": "AT_LATEST"}),  # beam#33478
    ("StreamARN", ARN), ("StreamCreationTimestamp", 1.0),
])  # fmt: skip
def test_a_token_comes_alone(large: FakeKinesis, name: str, value: Any) -> None:
    client = large.client()
    token = client.list_shards(StreamName="orders")["NextToken"]
    assert refusal(client.list_shards, NextToken=token, **{name: value}) == (
        "InvalidArgumentException", f"NextToken and {name} cannot be provided together."
    )


@pytest.mark.parametrize(("asked", "region", "code", "text"), [
    # kinesalite's tests, which run against AWS.
    ({}, None, "InvalidArgumentException", "Either NextToken or StreamName should be provided."),
    ({"StreamName": "nope"}, None, "ResourceNotFoundException",
     "Stream nope under account 123456789012 not found."),
    ({"StreamName": "orders"}, "eu-west-1", "ResourceNotFoundException", ".*"),
    ({"StreamARN": ARN.replace("123456789012", "999999999999")}, None,
     "ResourceNotFoundException", ".*"),
    ({"StreamName": "orders", "StreamCreationTimestamp": CREATED - 86400}, None,
     "ResourceNotFoundException", ".*"),
], ids=["no stream", "unknown", "in its region only", "in its account only",
        "made earlier"])  # fmt: skip
def test_a_stream_that_is_not_there(asked, region, code, text):
    client = split_stream().client(**({"region_name": region} if region else {}))
    found, said = refusal(client.list_shards, **asked)
    assert found == code and re.fullmatch(text, said), said


def test_a_stream_is_named_by_its_arn_or_with_its_creation_time(client):
    assert len(client.list_shards(StreamARN=ARN)["Shards"]) == 4
    assert len(listed(client, StreamCreationTimestamp=at(0))) == 4


def test_a_token_dies_after_three_hundred_seconds() -> None:
    fake = new_stream(3)
    client = fake.client()
    token = client.list_shards(StreamName="orders", MaxResults=1)["NextToken"]
    fake.clock.advance(300)
    assert len(client.list_shards(NextToken=token)["Shards"]) == 2
    fake.clock.advance(1)
    assert refusal(client.list_shards, NextToken=token)[0] == "ExpiredNextTokenException"


def test_a_made_up_token_is_refused() -> None:
    client = new_stream(2).client()
    token = client.list_shards(StreamName="orders", MaxResults=1)["NextToken"]
    for made_up in ("abc", "AAAA" + token[4:], "\u00e9"):
        assert refusal(client.list_shards, NextToken=made_up)[0] == "InvalidArgumentException"


def test_a_token_does_not_survive_its_stream() -> None:
    fake = new_stream(2)
    token = fake.client().list_shards(StreamName="orders", MaxResults=1)["NextToken"]
    recreate(fake, 2)
    assert refusal(fake.client().list_shards, NextToken=token)[0] == "ResourceNotFoundException"


def test_exclusive_start_is_a_place_not_a_name(client, fake):
    assert list(listed(client, ExclusiveStartShardId="shardId-000000000001")) == [2, 3]
    fake.trim_shard("orders", 0)
    assert list(listed(fake.client(), ExclusiveStartShardId="shardId-000000000000")) == [1, 2, 3]


@pytest.mark.parametrize("doing", ["CREATING", "DELETING"])
def test_only_a_live_stream_is_listed(doing: str) -> None:
    # ListShards API reference: ResourceInUseException unless ACTIVE or UPDATING.
    fake = FakeKinesis()
    client = fake.client()
    client.create_stream(StreamName="orders", ShardCount=1)
    if doing == "DELETING":
        fake.settle()
        client.delete_stream(StreamName="orders")
    assert refusal(client.list_shards, StreamName="orders") == (
        "ResourceInUseException",
        f"Stream orders under account 123456789012 not ACTIVE, instead in state {doing}",
    )


# --- expiry ------------------------------------------------------------------------------------


def test_a_closed_shard_is_listed_until_its_retention_is_over_and_an_open_one_for_ever(fake):
    # "This action does not list expired shards" (ListShards API reference); seen about 24 hours
    # after the close in bento#531.
    fake.clock.set(CREATED + 600 + 86400)
    assert list(listed(fake.client())) == [0, 1, 2, 3]
    for later in (1, 365 * 86400):
        fake.clock.advance(later)
        assert list(listed(fake.client())) == [1, 2, 3]


# --- filters (their table in the ListShards API reference) ---------------------------------------


DAY = 86400


@pytest.mark.parametrize(("now", "wanted", "chosen"), [
    (3600, {"Type": "FROM_TRIM_HORIZON"}, [0, 1, 2, 3]),
    # KCL refuses to start unless the answer covers the hash space exactly once.
    (3600, {"Type": "AT_TRIM_HORIZON"}, [0, 1]),
    (DAY + 599, {"Type": "AT_TRIM_HORIZON"}, [0, 1]),
    (DAY + 600, {"Type": "AT_TRIM_HORIZON"}, [1, 2, 3]),
    (2 * DAY, {"Type": "AT_TRIM_HORIZON"}, [1, 2, 3]),
    (3600, {"Type": "AT_LATEST"}, [1, 2, 3]),
    (3600, {"Type": "AFTER_SHARD_ID", "ShardId": "shardId-000000000001"}, [2, 3]),
    (3600, {"Type": "AT_TIMESTAMP", "Timestamp": at(300)}, [0, 1]),
    (3600, {"Type": "AT_TIMESTAMP", "Timestamp": at(900)}, [1, 2, 3]),
    (3600, {"Type": "FROM_TIMESTAMP", "Timestamp": at(300)}, [0, 1, 2, 3]),
    (3600, {"Type": "FROM_TIMESTAMP", "Timestamp": at(900)}, [1, 2, 3]),
    # A time before the horizon means the horizon.
    (DAY + 700, {"Type": "AT_TIMESTAMP", "Timestamp": at(300)}, [1, 2, 3]),
    (DAY + 700, {"Type": "FROM_TIMESTAMP", "Timestamp": at(300)}, [1, 2, 3]),
], ids=str)  # fmt: skip
def test_which_shards_a_filter_chooses(now: int, wanted: dict[str, Any], chosen: list[int]) -> None:
    assert list(listed(split_stream(now=now).client(), ShardFilter=wanted)) == chosen


def test_a_filter_goes_on_through_the_pages(client):
    found = list(
        pages(client, StreamName="orders", MaxResults=1, ShardFilter={"Type": "AT_LATEST"})
    )
    assert [name[-1] for page in found for name in page] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "wanted", [{"Type": "AT_TIMESTAMP"}, {"Type": "AFTER_SHARD_ID"}, {"Type": "SOMETIMES"}]
)
def test_a_filter_that_says_too_little(wanted, client):
    code, _ = refusal(client.list_shards, StreamName="orders", ShardFilter=wanted)
    assert code == "InvalidArgumentException"


# --- what may go wrong between pages ------------------------------------------------------------


def test_a_torn_listing_shows_an_open_parent_beside_its_children(fake, client):
    fake.faults.add("ListShards", torn_listing(first_page=2), times=None)
    first = client.list_shards(StreamName="orders")
    second = client.list_shards(NextToken=first["NextToken"])
    assert [s["ShardId"][-1] for s in first["Shards"]] == ["0", "1"]
    assert "EndingSequenceNumber" not in first["Shards"][0]["SequenceNumberRange"]
    assert [s["ParentShardId"][-1] for s in second["Shards"]] == ["0", "0"]
    fake.faults.clear()
    assert "EndingSequenceNumber" in listed(client)[0]["SequenceNumberRange"]


def test_short_cut_and_empty_pages(fake, client):
    fake.faults.add("ListShards", short_page(0))
    fake.faults.add("ListShards", short_page(3))
    assert [len(page) for page in pages(client, StreamName="orders")] == [0, 3, 1]
    fake.faults.add("ListShards", cut_page(2))
    answer = client.list_shards(StreamName="orders")
    assert len(answer["Shards"]) == 2
    assert "NextToken" not in answer


def test_an_expired_token_on_demand(fake, client):
    fake.faults.add(**expired_token())
    token = client.list_shards(StreamName="orders", MaxResults=2)["NextToken"]
    assert refusal(client.list_shards, NextToken=token)[0] == "ExpiredNextTokenException"
    assert len(client.list_shards(NextToken=token)["Shards"]) == 2


def test_a_shards_shape() -> None:
    merged = split_stream(shards=[
        {"id": 0, "range": ["0", "1/3"], "close": 60},
        {"id": 1, "range": ["1/3", "1"], "close": 50},
        {"id": 2, "range": ["0", "1"], "parents": [1, 0], "open": 61},
    ])  # fmt: skip
    shards = listed(merged.client())
    # The three-shard stream of the AWS CLI reference (list-shards) has this edge.
    assert shards[0]["HashKeyRange"]["EndingHashKey"] == "113427455640312821154458202477256070484"
    assert shards[2]["ParentShardId"] == "shardId-000000000001"
    assert shards[2]["AdjacentParentShardId"] == "shardId-000000000000"
    assert "ParentShardId" not in shards[0]
