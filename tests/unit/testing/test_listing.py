"""ListShards: paging, tokens, filters, expiry and torn views."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.faults import cut_page, expired_token, short_page, torn_listing
from tests.unit.testing.samples import (
    CREATED,
    listed,
    new_stream,
    pages,
    refusal,
    split_stream,
)


@pytest.fixture(scope="module")
def large() -> FakeKinesis:
    return new_stream(2500)


@pytest.mark.parametrize("asked", [{}, {"MaxResults": 1000}, {"MaxResults": 10000}])
def test_a_page_holds_a_thousand_shards_at_most(large: FakeKinesis, asked: dict[str, int]) -> None:
    # ListShards API reference: MaxResults up to 10000 is accepted, 1000 is what comes.
    sizes = [len(page) for page in pages(large.client(), StreamName="orders", **asked)]
    assert sizes[0] == 1000
    assert sum(sizes) == 2500


def test_pages_join_without_gap_or_repeat(large: FakeKinesis) -> None:
    found = [
        name for page in pages(large.client(), StreamName="orders", MaxResults=7) for name in page
    ]
    assert found[0] == "shardId-000000000000"
    assert found == sorted(set(found))
    assert len(found) == 2500


@pytest.mark.parametrize("size", [0, 10001])
def test_max_results_has_its_limits(large: FakeKinesis, size: int) -> None:
    code, text = refusal(large.client().list_shards, StreamName="orders", MaxResults=size)
    assert code == "ValidationException"
    assert f"Value '{size}' at 'maxResults' failed to satisfy constraint" in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("StreamName", "orders"),  # botocore#2009
        ("ExclusiveStartShardId", "shardId-000000000000"),  # amazon-kinesis-scaling-utils#82
        ("ShardFilter", {"Type": "AT_LATEST"}),  # beam#33478
        ("StreamARN", "arn:aws:kinesis:us-east-1:123456789012:stream/orders"),
        ("StreamCreationTimestamp", 1.0),
    ],
)
def test_a_token_comes_alone(large: FakeKinesis, name: str, value: Any) -> None:
    client = large.client()
    token = client.list_shards(StreamName="orders")["NextToken"]
    code, text = refusal(client.list_shards, NextToken=token, **{name: value})
    assert code == "InvalidArgumentException"
    assert text == f"NextToken and {name} cannot be provided together."


def test_a_listing_needs_a_stream_or_a_token() -> None:
    # kinesalite's tests, which run against AWS.
    code, text = refusal(FakeKinesis().client().list_shards)
    assert (code, text) == (
        "InvalidArgumentException",
        "Either NextToken or StreamName should be provided.",
    )


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
    client = fake.client()
    token = client.list_shards(StreamName="orders", MaxResults=1)["NextToken"]
    client.delete_stream(StreamName="orders")
    fake.settle()
    client.create_stream(StreamName="orders", ShardCount=2)
    fake.settle()
    assert refusal(client.list_shards, NextToken=token)[0] == "ResourceNotFoundException"


def test_exclusive_start_is_a_place_not_a_name() -> None:
    client = split_stream().client()
    assert list(listed(client, ExclusiveStartShardId="shardId-000000000001")) == [2, 3]
    fake = split_stream()
    fake.trim_shard("orders", 0)
    assert list(listed(fake.client(), ExclusiveStartShardId="shardId-000000000000")) == [1, 2, 3]


def test_an_unknown_stream() -> None:
    # The text of AWS, as kinesalite's tests have it.
    code, text = refusal(FakeKinesis().client().list_shards, StreamName="nope")
    assert code == "ResourceNotFoundException"
    assert text == "Stream nope under account 123456789012 not found."


def test_a_stream_is_found_in_its_own_region_only() -> None:
    fake = split_stream()
    elsewhere = fake.client(region_name="eu-west-1")
    assert refusal(elsewhere.list_shards, StreamName="orders")[0] == "ResourceNotFoundException"
    arn = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
    assert len(fake.client().list_shards(StreamARN=arn)["Shards"]) == 4
    other = arn.replace("123456789012", "999999999999")
    assert refusal(fake.client().list_shards, StreamARN=other)[0] == "ResourceNotFoundException"


@pytest.mark.parametrize("doing", ["CREATING", "DELETING"])
def test_only_a_live_stream_is_listed(doing: str) -> None:
    # ListShards API reference: ResourceInUseException unless ACTIVE or UPDATING.
    fake = FakeKinesis()
    client = fake.client()
    client.create_stream(StreamName="orders", ShardCount=1)
    if doing == "DELETING":
        fake.settle()
        client.delete_stream(StreamName="orders")
    code, text = refusal(client.list_shards, StreamName="orders")
    assert code == "ResourceInUseException"
    assert text == (
        f"Stream orders under account 123456789012 not ACTIVE, instead in state {doing}"
    )


def test_the_creation_time_tells_streams_of_one_name_apart() -> None:
    client = split_stream().client()
    right = datetime.fromtimestamp(CREATED, UTC)
    assert len(listed(client, StreamCreationTimestamp=right)) == 4
    wrong = datetime.fromtimestamp(CREATED - 86400, UTC)
    code, _ = refusal(client.list_shards, StreamName="orders", StreamCreationTimestamp=wrong)
    assert code == "ResourceNotFoundException"


# --- expiry ------------------------------------------------------------------------------------


def test_a_closed_shard_is_listed_until_its_retention_is_over() -> None:
    # "This action does not list expired shards" (ListShards API reference); seen about 24 hours
    # after the close in bento#531.
    fake = split_stream()
    fake.clock.set(CREATED + 600 + 86400)
    assert list(listed(fake.client())) == [0, 1, 2, 3]
    fake.clock.advance(1)
    assert list(listed(fake.client())) == [1, 2, 3]


def test_an_open_shard_never_expires() -> None:
    fake = split_stream()
    fake.clock.advance(365 * 86400)
    assert list(listed(fake.client())) == [1, 2, 3]


# --- filters (their table in the ListShards API reference) ---------------------------------------


def chosen(fake: FakeKinesis, **wanted: Any) -> list[int]:
    return list(listed(fake.client(), ShardFilter=wanted))


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(CREATED + seconds, UTC)


def test_filters_by_horizon_and_tip() -> None:
    fake = split_stream()
    assert chosen(fake, Type="FROM_TRIM_HORIZON") == [0, 1, 2, 3]
    assert chosen(fake, Type="AT_TRIM_HORIZON") == [0, 1]
    assert chosen(fake, Type="AT_LATEST") == [1, 2, 3]
    assert chosen(fake, Type="AFTER_SHARD_ID", ShardId="shardId-000000000001") == [2, 3]


def test_at_trim_horizon_moves_with_the_horizon_and_stays_whole() -> None:
    # KCL refuses to start unless the answer covers the hash space exactly once.
    fake = split_stream()
    for moment, expected in (
        (86400 + 599, [0, 1]),
        (86400 + 600, [1, 2, 3]),
        (2 * 86400, [1, 2, 3]),
    ):
        fake.clock.set(CREATED + moment)
        assert chosen(fake, Type="AT_TRIM_HORIZON") == expected


def test_filters_by_time() -> None:
    fake = split_stream()
    assert chosen(fake, Type="AT_TIMESTAMP", Timestamp=at(300)) == [0, 1]
    assert chosen(fake, Type="AT_TIMESTAMP", Timestamp=at(900)) == [1, 2, 3]
    assert chosen(fake, Type="FROM_TIMESTAMP", Timestamp=at(300)) == [0, 1, 2, 3]
    assert chosen(fake, Type="FROM_TIMESTAMP", Timestamp=at(900)) == [1, 2, 3]


def test_a_time_before_the_horizon_means_the_horizon() -> None:
    fake = split_stream(now=86400 + 700)
    for kind in ("AT_TIMESTAMP", "FROM_TIMESTAMP"):
        assert chosen(fake, Type=kind, Timestamp=at(300)) == [1, 2, 3]


def test_a_filter_goes_on_through_the_pages() -> None:
    client = split_stream().client()
    found = list(
        pages(client, StreamName="orders", MaxResults=1, ShardFilter={"Type": "AT_LATEST"})
    )
    assert [name[-1] for page in found for name in page] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "wanted", [{"Type": "AT_TIMESTAMP"}, {"Type": "AFTER_SHARD_ID"}, {"Type": "SOMETIMES"}]
)
def test_a_filter_that_says_too_little(wanted: dict[str, str]) -> None:
    client = split_stream().client()
    code, _ = refusal(client.list_shards, StreamName="orders", ShardFilter=wanted)
    assert code == "InvalidArgumentException"


# --- what may go wrong between pages ------------------------------------------------------------


def test_a_torn_listing_shows_an_open_parent_beside_its_children() -> None:
    fake = split_stream()
    fake.faults.add("ListShards", torn_listing(first_page=2), times=None)
    client = fake.client()
    first = client.list_shards(StreamName="orders")
    second = client.list_shards(NextToken=first["NextToken"])
    assert [s["ShardId"][-1] for s in first["Shards"]] == ["0", "1"]
    assert "EndingSequenceNumber" not in first["Shards"][0]["SequenceNumberRange"]
    assert [s["ParentShardId"][-1] for s in second["Shards"]] == ["0", "0"]
    fake.faults.clear()
    assert "EndingSequenceNumber" in listed(client)[0]["SequenceNumberRange"]


def test_short_cut_and_empty_pages() -> None:
    fake = split_stream()
    client = fake.client()
    fake.faults.add("ListShards", short_page(0))
    fake.faults.add("ListShards", short_page(3))
    assert [len(page) for page in pages(client, StreamName="orders")] == [0, 3, 1]
    fake.faults.add("ListShards", cut_page(2))
    answer = client.list_shards(StreamName="orders")
    assert len(answer["Shards"]) == 2
    assert "NextToken" not in answer


def test_an_expired_token_on_demand() -> None:
    fake = split_stream()
    fake.faults.add(**expired_token())
    client = fake.client()
    token = client.list_shards(StreamName="orders", MaxResults=2)["NextToken"]
    assert refusal(client.list_shards, NextToken=token)[0] == "ExpiredNextTokenException"
    assert len(client.list_shards(NextToken=token)["Shards"]) == 2


def test_a_shards_shape() -> None:
    merged = load_topology(
        {
            "name": "orders",
            "created": CREATED,
            "shards": [
                {"id": 0, "range": ["0", "1/3"], "close": 60},
                {"id": 1, "range": ["1/3", "1"], "close": 50},
                {"id": 2, "range": ["0", "1"], "parents": [1, 0], "open": 61},
            ],
        }
    )
    shards = listed(merged.client())
    # The three-shard stream of the AWS CLI reference (list-shards) has this edge.
    assert shards[0]["HashKeyRange"]["EndingHashKey"] == "113427455640312821154458202477256070484"
    assert shards[2]["ParentShardId"] == "shardId-000000000001"
    assert shards[2]["AdjacentParentShardId"] == "shardId-000000000000"
    assert "ParentShardId" not in shards[0]
