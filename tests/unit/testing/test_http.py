"""The fake over HTTP, asked by boto3 and by hand."""

from __future__ import annotations

import http.client
import itertools
import json
import socket
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError

from reshardctl.testing import FakeKinesis, serve
from reshardctl.testing.faults import timeout_after, timeout_before
from tests.unit.testing.samples import iterator, listed, new_stream, pages, refusal


@pytest.fixture
def url(fake: FakeKinesis) -> Iterator[str]:
    with serve(fake) as server:
        yield server.url


def boto(url: str, region: str = "us-east-1") -> Any:
    retries = Config(retries={"total_max_attempts": 1}, read_timeout=60, connect_timeout=60)
    return boto3.client("kinesis", endpoint_url=url, region_name=region, config=retries)


def plain(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {k: plain(v) for k, v in answer.items() if k != "ResponseMetadata"}
    return [plain(item) for item in answer] if isinstance(answer, list) else answer


def test_boto3_and_the_client_in_process_get_the_same_answers(fake: FakeKinesis, url: str) -> None:
    near, far = fake.client(), boto(url)
    stream = {"StreamName": "orders"}
    for method, params in (
        ("list_shards", stream),
        ("list_shards", {**stream, "ShardFilter": {"Type": "AT_TIMESTAMP", "Timestamp": 1.0}}),
        ("describe_stream", stream),
        ("describe_stream_summary", {"StreamARN": fake.stream("orders").arn}),
        ("list_streams", {}),
        ("get_records", {"ShardIterator": iterator(near, 1), "Limit": 4}),
        ("get_records", {"ShardIterator": iterator(near, 0, "LATEST")}),
    ):
        assert plain(getattr(far, method)(**params)) == plain(getattr(near, method)(**params))


def test_errors_have_the_same_code_and_text(fake: FakeKinesis, url: str) -> None:
    near, far = fake.client(), boto(url)
    for params in (
        {"ShardId": "shardId-000000000009", "ShardIteratorType": "LATEST"},
        {"ShardId": "shardId-000000000000", "ShardIteratorType": "AT_SEQUENCE_NUMBER"},
    ):
        asked = {"StreamName": "orders", **params}
        assert refusal(far.get_shard_iterator, **asked) == refusal(near.get_shard_iterator, **asked)
    with pytest.raises(far.exceptions.ResourceNotFoundException):
        far.list_shards(StreamName="nope")


def test_the_paginator_of_boto3_fails_as_on_aws() -> None:
    # botocore#2009: it sends StreamName with NextToken.
    with serve(new_stream(1001)) as server:
        client = boto(server.url)
        assert [len(page) for page in pages(client, StreamName="orders")] == [1000, 1]
        with pytest.raises(ClientError, match="NextToken and StreamName cannot be provided"):
            list(client.get_paginator("list_shards").paginate(StreamName="orders"))


@pytest.mark.parametrize("size", [1, 200_000])
def test_an_answer_is_written_at_once(monkeypatch, fake, url, size):
    """Head and body in two segments made some Go clients lose the second and ask again."""
    fake.put("orders", 1, b"x" * size, "k")
    asked = {"ShardIterator": iterator(fake.client(), 1)}
    client, sent = boto(url), []
    client.list_streams()  # connects
    plainly, buffered = socket.socket.sendall, socket.SocketIO.write

    def all_of_it(self: socket.socket, data: bytes) -> None:
        sent.append(bytes(data[:9]))
        plainly(self, data)

    def piece(self: socket.SocketIO, data: bytes) -> int | None:
        sent.append(bytes(data[:9]))
        return buffered(self, data)

    monkeypatch.setattr(socket.socket, "sendall", all_of_it)
    monkeypatch.setattr(socket.SocketIO, "write", piece)
    assert len(client.get_records(**asked)["Records"][-1]["Data"]) == size
    assert [data for data in sent if not data.startswith((b"POST ", b'{"Shard'))] == [b"HTTP/1.1 "]


def test_a_whole_life(fake: FakeKinesis, url: str) -> None:
    client = boto(url)
    client.create_stream(StreamName="life", ShardCount=1)
    fake.settle()
    put = client.put_record(StreamName="life", Data=b"\x00\xff", PartitionKey="\u00e4")
    assert put["ShardId"] == "shardId-000000000000"
    batch = [{"Data": b"b", "PartitionKey": "b"}, {"Data": b"c", "PartitionKey": "c"}]
    assert client.put_records(StreamName="life", Records=batch)["FailedRecordCount"] == 0
    client.split_shard(
        StreamName="life", ShardToSplit=put["ShardId"], NewStartingHashKey=str(2**127)
    )
    fake.settle()
    token = client.get_shard_iterator(
        StreamName="life", ShardId=put["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    answer = client.get_records(ShardIterator=token)
    assert [record["Data"] for record in answer["Records"]] == [b"\x00\xff", b"b", b"c"]
    assert answer["Records"][0]["PartitionKey"] == "\u00e4"
    end = client.get_records(ShardIterator=answer["NextShardIterator"])
    assert "NextShardIterator" not in end
    assert [child["ShardId"][-1] for child in end["ChildShards"]] == ["1", "2"]
    client.delete_stream(StreamName="life")
    fake.settle()
    assert client.list_streams()["StreamNames"] == ["orders"]


def test_the_region_is_that_of_the_signature(url: str) -> None:
    assert refusal(boto(url, "eu-west-1").list_shards, StreamName="orders") == (
        "ResourceNotFoundException",
        "Stream orders under account 123456789012 not found.",
    )


@pytest.mark.parametrize(("fault", "records"), [(timeout_before, 4), (timeout_after, 5)])
def test_a_broken_connection(fake: FakeKinesis, url: str, fault: Any, records: int) -> None:
    fake.faults.add("PutRecord", fault)
    client = boto(url)
    with pytest.raises(HTTPClientError):
        client.put_record(StreamName="orders", Data=b"x", PartitionKey="b")
    assert len(fake.stream("orders").shards[1].records) == records
    assert len(listed(client)) == 4


def test_boto3_retries_a_throttled_call(fake: FakeKinesis, url: str) -> None:
    fake.faults.add("ListShards", "InternalFailure")
    client = boto3.client("kinesis", endpoint_url=url, region_name="us-east-1")
    assert len(listed(client)) == 4
    assert [call.action for call in fake.calls] == ["ListShards"] * 2


def post(
    url: str, body: bytes, **headers: str
) -> Iterator[tuple[int, dict[str, str], dict[str, Any]]]:
    """Answers to one request sent again and again over one connection."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    sent = {
        "Content-Type": "application/x-amz-json-1.1",
        "X-Amz-Target": "Kinesis_20131202.ListShards",
    }
    sent.update({name.replace("_", "-"): value for name, value in headers.items()})
    try:
        while True:
            connection.request("POST", "/", body, sent)
            answer = connection.getresponse()
            yield answer.status, dict(answer.getheaders()), json.loads(answer.read())
    finally:
        connection.close()


def test_the_form_of_answers_and_errors_over_one_connection(url: str) -> None:
    answers = post(url, b'{"StreamName": "orders"}')
    for status, headers, body in itertools.islice(answers, 3):
        assert status == 200
        assert headers["Content-Type"] == "application/x-amz-json-1.1"
        assert headers["x-amzn-RequestId"]
        assert len(body["Shards"]) == 4
    answers.close()  # type: ignore[attr-defined]
    status, headers, body = next(post(url, b'{"StreamName": "nope"}'))
    assert status == 400
    assert headers["x-amzn-ErrorType"] == "ResourceNotFoundException"
    assert body["__type"] == "ResourceNotFoundException"
    assert body["message"] == "Stream nope under account 123456789012 not found."


@pytest.mark.parametrize(("body", "headers", "kind", "text"), [
    *((body, {}, "SerializationException", "") for body in (
        b"{", b"[]", b'{"StreamName": 7}', b'{"MaxResults": "9"}', b"\xff",
    )),
    (b"\xa0", {"Content_Type": "application/x-amz-cbor-1.1"}, None, "AWS_CBOR_DISABLE"),
    (b"{}", {"X_Amz_Target": "DynamoDB_20120810.Scan"}, "UnknownOperationException", ""),
    (b"{}", {"X_Amz_Target": "Kinesis_20131202.SubscribeToShard"}, "UnknownOperationException", ""),
])  # fmt: skip
def test_what_is_no_request_is_refused_clearly(url, body, headers, kind, text):
    status, _, answer = next(post(url, body, **headers))
    assert status == 400 and kind in (None, answer["__type"]) and text in answer["message"], answer


def test_a_chunked_body(url: str) -> None:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    target = {"X-Amz-Target": "Kinesis_20131202.ListShards"}
    chunks = iter([b'{"StreamName":', b' "orders"}'])
    connection.request("POST", "/", chunks, target, encode_chunked=True)
    assert len(json.loads(connection.getresponse().read())["Shards"]) == 4
    connection.close()


def test_a_mistake_of_the_fake_is_an_answer_too(fake: FakeKinesis, url: str) -> None:
    fake.faults.add("ListShards", ZeroDivisionError("oh"))
    status, _, answer = next(post(url, b'{"StreamName": "orders"}'))
    assert (status, answer["__type"]) == (500, "InternalFailure")
    assert "ZeroDivisionError('oh')" in answer["message"]
