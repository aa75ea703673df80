"""Faults on demand and the call log."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from reshardctl.testing.faults import stale_listing, timeout_after, timeout_before
from reshardctl.testing.requests import Answer, ApiError, Call, NoAnswerError, Request
from tests.unit.testing.samples import listed, read, refusal


@pytest.mark.parametrize(("code", "status"), [
    ("LimitExceededException", 400), ("ProvisionedThroughputExceededException", 400),
    ("ThrottlingException", 400), ("ExpiredTokenException", 400), ("AccessDeniedException", 400),
    ("InternalFailure", 500), ("ServiceUnavailable", 503),
])  # fmt: skip
def test_an_error_strikes_once_and_is_over(code, status, fake, client):
    fake.faults.add("ListShards", code)
    client.describe_stream_summary(StreamName="orders")
    with pytest.raises(ClientError) as caught:
        client.list_shards(StreamName="orders")
    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert len(listed(client)) == 4


def test_how_often_and_from_when(fake, client):
    fake.faults.add("ListShards", "LimitExceededException", times=2, after=1)
    outcomes = []
    for _ in range(5):
        try:
            client.list_shards(StreamName="orders")
            outcomes.append("ok")
        except ClientError:
            outcomes.append("no")
    assert outcomes == ["ok", "no", "no", "ok", "ok"]


def test_for_ever_until_cleared(fake, client):
    fake.faults.add("*", ApiError("AccessDeniedException", "no"), times=None)
    for question in (client.list_shards, client.describe_stream):
        assert refusal(question, StreamName="orders") == ("AccessDeniedException", "no")
    fake.faults.clear()
    assert len(listed(client)) == 4


def test_only_calls_that_match(fake):

    def on_shard_one(request: Request) -> bool:
        return request.params["ShardId"].endswith("1")

    fake.faults.add("GetShardIterator", "InternalFailure", when=on_shard_one)
    assert read(fake.client(), 0) != []
    with pytest.raises(ClientError, match="InternalFailure"):
        read(fake.client(), 1)


@pytest.mark.parametrize(("fault", "error", "records"), [
    (timeout_before, EndpointConnectionError, 4), (timeout_after, ReadTimeoutError, 5),
    (NoAnswerError(executed=True), ReadTimeoutError, 5),
], ids=["before", "after", "as an error"])  # fmt: skip
def test_a_broken_connection(fault, error, records, fake):
    fake.faults.add("PutRecord", fault)
    with pytest.raises(error):
        fake.client().put_record(StreamName="orders", Data=b"x", PartitionKey="b")
    assert len(read(fake.client(), 1)) == records


def test_a_function_may_change_the_answer_or_the_stream(fake):

    def reshard_first(request: Request, proceed: object) -> Answer:
        fake.trim_shard("orders", 0)
        assert callable(proceed)
        answer: Answer = proceed(request)
        return answer

    fake.faults.add("ListShards", reshard_first)
    assert list(listed(fake.client())) == [1, 2, 3]


def test_a_listing_that_lags_behind(fake):
    fake.faults.add("ListShards", stale_listing)
    assert list(listed(fake.client())) == [0, 1]
    assert list(listed(fake.client())) == [0, 1, 2, 3]


def test_the_log_holds_every_call_refused_ones_too(fake, client):
    fake.faults.add("DescribeStreamSummary", "LimitExceededException")
    refusal(client.describe_stream_summary, StreamName="orders")
    listed(client)
    assert fake.calls == [
        Call("DescribeStreamSummary", {"StreamName": "orders"}),
        ("ListShards", {"StreamName": "orders"}),
    ]
    assert fake.actions == {"DescribeStreamSummary", "ListShards"}
    assert fake.mutating_calls == []
    refusal(client.delete_stream, StreamName="other")
    assert fake.mutating_calls == [("DeleteStream", {"StreamName": "other"})]


def test_refusals_name_what_was_asked_for(fake):
    # The form of IAM's refusals (IAM user guide, "Troubleshoot access denied error messages").
    fake.faults.add("ListShards", "AccessDeniedException")
    _, text = refusal(fake.client().list_shards, StreamName="orders")
    assert "is not authorized to perform: kinesis:ListShards on resource: " in text
    assert fake.stream("orders").arn in text
    fake.faults.add("ListShards", "LimitExceededException")
    _, text = refusal(fake.client().list_shards, StreamName="orders")
    assert text == "Rate exceeded for stream orders under account 123456789012."
