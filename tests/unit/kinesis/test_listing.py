"""ListShards by hand: pages, tokens that expire, listings that tear, move, or make no sense."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.errors import CannotTell, StreamUnsettled, UsageError
from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from reshardctl.model import shard_id
from reshardctl.testing import FakeKinesis
from reshardctl.testing.faults import cut_page, expired_token, short_page, torn_listing
from reshardctl.testing.requests import Request
from tests.support.case_listing import ListingCase, listing_cases
from tests.unit.kinesis.streams import (
    ARN,
    CREATED,
    in_process,
    over_http,
    split_stream,
    wide_stream,
)
from tests.unit.lineage.histories import STREAM
from tests.unit.testing.samples import recreate, reshard_to


def asked_of(fake: FakeKinesis, action: str = "ListShards") -> list[dict[str, Any]]:
    return [dict(call.params) for call in fake.calls if call.action == action]


@pytest.mark.parametrize("stream", ["orders", ARN])
def test_a_long_listing_over_http_by_name_and_by_arn(stream: str) -> None:
    fake = wide_stream(2500)
    with over_http(fake) as asked:
        lineage = asked.kinesis.lineage(stream)
    assert list(lineage) == [shard_id(i) for i in range(2500)]
    assert lineage.breaches() == []
    first, *later = asked_of(fake)
    named = {"StreamARN": ARN} if stream == ARN else {"StreamName": "orders"}
    assert first == {**named, "MaxResults": 1000}
    # AWS: "NextToken and StreamName cannot be provided together." (botocore#2009)
    assert [set(params) for params in later] == [{"NextToken"}, {"NextToken"}]
    assert asked.progress == [1000, 2000, 2500]
    assert asked.waits == []


def test_the_first_page_and_the_summary_are_asked_for_at_the_same_time(fake):
    """Each is answered only once the other was asked for too: in turns they never would be."""
    answer, both_asked, asked = fake.call, threading.Barrier(2, timeout=30), []

    def call(action: str, params: Mapping[str, Any], region: str | None = None) -> Any:
        asked.append(action)
        if len(asked) <= 2:
            both_asked.wait()
        return answer(action, params, region)

    fake.call = call  # type: ignore[method-assign]
    assert len(in_process(fake).kinesis.lineage("orders")) == 4
    assert sorted(asked[:2]) == ["DescribeStreamSummary", "ListShards"]
    assert asked[2:] == ["DescribeStreamSummary"]


def test_the_summary() -> None:
    fake = split_stream(retention_hours=48, mode="ON_DEMAND")
    for stream in ("orders", ARN):
        with over_http(fake) as asked:
            found = asked.kinesis.summary(stream)
        assert (found.arn, found.name, found.created) == (ARN, "orders", CREATED)
        assert (found.retention, found.status, found.mode) == (48 * 3600, "ACTIVE", "ON_DEMAND")
        assert (found.open_shards, found.account, found.region) == (3, "123456789012", "us-east-1")


def test_an_expired_token_goes_on_behind_the_last_id() -> None:
    fake = wide_stream(2500)
    fake.faults.add(**expired_token(), after=1)
    with over_http(fake) as asked:
        lineage = asked.kinesis.lineage("orders")
    assert len(lineage) == 2500
    restart = asked_of(fake)[3]
    assert restart == {
        "StreamName": "orders", "MaxResults": 1000, "ExclusiveStartShardId": shard_id(1999),
    }  # fmt: skip


def test_a_token_that_is_not_accepted() -> None:
    fake = wide_stream(1500)
    fake.faults.add(
        "ListShards", "InvalidArgumentException", when=lambda request: "NextToken" in request.params
    )
    assert len(in_process(fake).kinesis.lineage("orders")) == 1500


def test_tokens_that_never_work_end_in_a_message() -> None:
    fake = wide_stream(1001)
    fake.faults.add(**expired_token(), times=None)
    fake.faults.add("ListShards", short_page(1), times=None)
    with pytest.raises(CannotTell, match="ExpiredNextTokenException"):
        in_process(fake).kinesis.lineage("orders")
    assert len(asked_of(fake)) < 300


def test_empty_pages_are_no_end() -> None:
    fake = wide_stream(30)
    fake.faults.add("ListShards", short_page(0), times=5)
    fake.faults.add("ListShards", short_page(7), times=None)
    assert len(in_process(fake).kinesis.lineage("orders")) == 30


def same_page(request: Request, proceed: Any) -> Any:
    """The first page, whatever is asked for."""
    return {**proceed(replace(request, params={"StreamName": "orders"})), "NextToken": "again"}


@pytest.mark.parametrize("fault", [short_page(0), same_page], ids=["empty", "the same"])
def test_pages_without_end_end_in_a_message(fault: Any) -> None:
    fake = wide_stream(30)
    fake.faults.add("ListShards", fault, times=None)
    with pytest.raises(CannotTell, match="round in circles"):
        in_process(fake).kinesis.lineage("orders")


@pytest.mark.parametrize("code", ["LimitExceededException", "InternalFailure", "ServiceUnavailable",
                                  "ThrottlingException"])  # fmt: skip
def test_what_passes_by_itself_is_waited_for(code: str) -> None:
    fake = wide_stream(1500)
    fake.faults.add("*", code, times=3, after=1)
    with over_http(fake) as asked:
        assert len(asked.kinesis.lineage("orders")) == 1500
    assert asked.waits == [0.2, 0.4, 0.8]


def test_a_torn_listing_is_read_again(fake):
    fake.faults.add("ListShards", torn_listing(first_page=2), times=2)
    with over_http(fake) as asked:
        lineage = asked.kinesis.lineage("orders")
    assert lineage.breaches() == []
    assert len(lineage) == 4
    assert asked.waits == [1.0]
    assert len(asked_of(fake)) == 3
    assert len(asked_of(fake, "DescribeStreamSummary")) == 4


def test_a_listing_that_stays_torn_is_never_a_lineage(fake, asked):
    fake.faults.add("ListShards", torn_listing(first_page=2), times=None)
    with pytest.raises(StreamUnsettled) as caught:
        asked.kinesis.lineage("orders")
    said = caught.value.what
    assert "RSH103 hash-range-hole" in said
    assert "RSH104 open-parent: listed as open although a child is listed (shard 0)" in said
    assert "describe-stream-summary --stream-name orders --region us-east-1" in caught.value.next
    assert caught.value.exit == 3
    assert asked.waits == [1, 2, 4, 8, 16]


@pytest.mark.parametrize(("shards", "cut", "words"), [
    # bento#531: 500 of 1500 shards unseen for a day.
    (1500, 1000, r"1500 open shards and lists 1000.*RSH103"),
    (None, 3, r"RSH105 closed-without-children.*shard 0"),
], ids=["open shards", "the last child"])  # fmt: skip
def test_a_listing_that_stops_short_is_never_a_lineage(shards, cut, words):
    fake = wide_stream(shards) if shards else split_stream()
    fake.faults.add("ListShards", cut_page(cut), times=None)
    with pytest.raises(StreamUnsettled, match=words):
        in_process(fake).kinesis.lineage("orders", rereads=1)


def test_a_stream_that_finishes_updating_meanwhile_is_read_again() -> None:
    fake = wide_stream(4)
    reshard_to(fake, 8)
    asked = in_process(fake)
    asked.kinesis._progress = lambda _listed: fake.settle()
    lineage = asked.kinesis.lineage("orders")
    assert lineage.stream.status == "ACTIVE"
    assert lineage.stream.open_shards == lineage.open_count() == 8
    assert len(lineage) == 12


def test_a_stream_that_stays_updating_passes_when_two_listings_agree(fake):
    fake.settings.reshard_seconds = 3600
    fake.client().split_shard(
        StreamName="orders", ShardToSplit=shard_id(1), NewStartingHashKey=str(3 << 126)
    )
    with over_http(fake) as asked:
        lineage = asked.kinesis.lineage("orders")
    assert lineage.stream.status == "UPDATING"
    assert len(lineage) == 4
    assert asked.waits == [1.0]
    assert len(asked_of(fake)) == 2


def test_a_stream_that_goes_on_changing_does_not_settle() -> None:
    fake = wide_stream(1)
    asked = in_process(fake)

    def reshard(_listed: int) -> None:
        shard = fake.stream("orders").shards[max(fake.stream("orders").shards)]
        middle = str((shard.low + shard.high) // 2 + 1)
        fake.client().split_shard(
            StreamName="orders", ShardToSplit=shard.id, NewStartingHashKey=middle
        )
        fake.settle()

    asked.kinesis._progress = reshard
    with pytest.raises(StreamUnsettled, match="open shards"):
        asked.kinesis.lineage("orders", rereads=3)


@pytest.mark.parametrize(("before", "now"), [(1500, 3), (3, 3)], ids=["between pages", "behind"])
def test_a_stream_that_is_recreated_meanwhile_is_read_again(before: int, now: int) -> None:
    fake = wide_stream(before)
    asked = in_process(fake)
    first = asked.kinesis.summary("orders").created

    def meanwhile(_listed: int) -> None:
        if "CreateStream" not in fake.actions:
            recreate(fake, now)

    asked.kinesis._progress = meanwhile
    lineage = asked.kinesis.lineage("orders")
    assert len(lineage) == now
    assert lineage.stream == asked.kinesis.summary("orders") and lineage.stream.created > first
    assert lineage[shard_id(0)].start == str(fake.stream("orders").shards[0].starting)


def test_a_stream_that_is_being_created_is_waited_for() -> None:
    fake = FakeKinesis()
    fake.client().create_stream(StreamName="orders", ShardCount=2)
    asked = in_process(fake)
    assert len(asked.kinesis.lineage("orders")) == 2
    assert asked.waits == [1, 2, 4]


def test_a_stream_that_stays_in_creation_does_not_settle() -> None:
    fake = FakeKinesis()
    fake.settings.create_seconds = 3600
    fake.client().create_stream(StreamName="orders", ShardCount=2)
    with pytest.raises(StreamUnsettled, match="CREATING"):
        in_process(fake).kinesis.lineage("orders")


def test_a_stream_that_is_not_there() -> None:
    with over_http(split_stream()) as asked, pytest.raises(UsageError) as caught:
        asked.kinesis.lineage("order")
    assert caught.value.what == "there is no stream order in us-east-1 in account 123456789012"
    assert caught.value.next.startswith("did you mean orders? check --region")
    assert (
        "--table-profile): aws kinesis list-streams --region us-east-1" in caught.value.next
    )


@pytest.mark.parametrize("stream", ["clicks", ARN.replace("orders", "order")])
@pytest.mark.parametrize("allowed", [True, False])
def test_no_other_stream_is_meant(stream, allowed, fake):
    """None is similar, or the streams may not be listed; an ARN may be of another account."""
    if not allowed:
        fake.faults.add("ListStreams", "AccessDeniedException", times=None)
    with pytest.raises(UsageError, match="there is no stream") as caught:
        in_process(fake).kinesis.lineage(stream)
    assert caught.value.next.startswith("check --region")


@pytest.mark.parametrize("stream", ["", "a b", "arn:aws:sqs:us-east-1:123456789012:orders",
                                    ARN + "/consumer/c:1", "x" * 129, "orders\n"])  # fmt: skip
def test_what_is_no_stream_is_not_asked_for(stream, fake):
    with pytest.raises(UsageError, match=r"is no|is the ARN of a consumer"):
        in_process(fake).kinesis.lineage(stream)
    assert fake.calls == []


def test_an_arn_of_another_region_is_not_asked_for(fake):
    with pytest.raises(UsageError, match="is in eu-west-1, but us-east-1 would be asked") as caught:
        in_process(fake).kinesis.summary(ARN.replace("us-east-1", "eu-west-1"))
    assert caught.value.next == "add --region eu-west-1"
    assert fake.calls == []


@pytest.mark.parametrize("answer", [{}, {"Shards": None}, {"Shards": [{}]},
                                    {"Shards": [{"ShardId": 5}]}, {"Shards": ["x"]}])  # fmt: skip
def test_an_answer_that_is_not_that_of_kinesis(answer, fake):
    fake.faults.add("ListShards", lambda _request, _proceed: dict(answer), times=None)
    with over_http(fake) as asked, pytest.raises(CannotTell) as caught:
        asked.kinesis.lineage("orders")
    assert "ListShards of orders" in caught.value.what
    assert "endpoint" in caught.value.next


# cases of a listing that contradicts itself or fails: nothing is concluded from it


@pytest.mark.parametrize("case", listing_cases(), ids=lambda case: case.name)
def test_a_listing_of_a_case_ends_with_exit_3(case: ListingCase) -> None:
    with pytest.raises(CannotTell) as refused:
        in_process(case.fake()).kinesis.lineage("orders")
    assert refused.value.exit is Exit.UNKNOWN
    assert isinstance(refused.value, StreamUnsettled) == bool(case.breaches)
    assert not case.refused or "ListShards" in str(refused.value)


@pytest.mark.parametrize(
    "case", [case for case in listing_cases() if not case.refused], ids=lambda case: case.name
)
def test_the_breaches_of_a_case(case: ListingCase) -> None:
    listed = case.fake().client().list_shards(StreamName="orders")["Shards"]
    named: dict[str, set[str]] = {}
    for breach in Lineage.from_pages(STREAM, [listed]).breaches():
        named.setdefault(breach.code, set()).update(breach.shards)
    assert named == case.breaches
