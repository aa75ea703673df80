"""Malformed answers of every AWS call that the package makes: never read for an empty answer.

What a proxy, a captive portal or a broken connection makes of an answer: another JSON value, no
members, a body cut off in the middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.hooks import HierarchicalEmitter
from botocore.parsers import ResponseParserError

from reshardctl.aws.client import CAUGHT, LOST, assumed, client_of, failed_inside
from reshardctl.aws.malformed_answers import refuse_malformed
from reshardctl.errors import CannotTell
from reshardctl.exit import Exit
from reshardctl.kinesis.fast import keep_records_raw
from reshardctl.kinesis.transport import keep_pages_raw
from reshardctl.stores.dynamodb.client import Client, Kind, kind_of

KEY = {"leaseKey": {"S": "shardId-000000000001"}}
ROW = b'{"Item":{"leaseKey":{"S":"shardId-000000000001"},"checkpoint":{"S":"SHARD_END"}}}'

CALLS: dict[tuple[str, str], tuple[dict[str, Any], bytes]] = {
    ("dynamodb", "get_item"): ({"TableName": "app", "Key": KEY}, ROW),
    ("dynamodb", "scan"): ({"TableName": "app"}, b'{"Items":[],"Count":0}'),
    ("dynamodb", "query"): ({"TableName": "app"}, b'{"Items":[],"Count":0}'),
    ("dynamodb", "batch_get_item"): (
        {"RequestItems": {"app": {"Keys": [KEY]}}}, b'{"Responses":{"app":[]}}',
    ),
    ("dynamodb", "describe_table"): ({"TableName": "app"}, (
        b'{"Table":{"TableArn":"arn","AttributeDefinitions":[],"KeySchema":[]}}'
    )),
    ("dynamodb", "list_tables"): ({}, b'{"TableNames":[]}'),
    ("dynamodb", "update_item"): ({"TableName": "app", "Key": KEY}, b"{}"),
    ("dynamodb", "put_item"): ({"TableName": "app", "Item": KEY}, b"{}"),
    ("dynamodb", "delete_item"): ({"TableName": "app", "Key": KEY}, b"{}"),
    ("dynamodb", "transact_write_items"): (
        {"TransactItems": [{"Delete": {"TableName": "app", "Key": KEY}}]}, b"{}",
    ),
    ("kinesis", "describe_stream_summary"): ({"StreamName": "orders"}, (
        b'{"StreamDescriptionSummary":{"StreamName":"orders","StreamARN":"arn","StreamStatus":'
        b'"ACTIVE","RetentionPeriodHours":24,"StreamCreationTimestamp":1,"EnhancedMonitoring":[],'
        b'"OpenShardCount":1}}'
    )),
    ("kinesis", "list_shards"): ({"StreamName": "orders"}, b'{"Shards":[]}'),
    ("kinesis", "get_shard_iterator"): (
        {"StreamName": "orders", "ShardId": "s", "ShardIteratorType": "LATEST"},
        b'{"ShardIterator":"x"}',
    ),
    ("kinesis", "get_records"): ({"ShardIterator": "x"}, b'{"Records":[]}'),
    ("s3", "list_objects_v2"): ({"Bucket": "b"}, (
        b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
    )),
}
EMPTY_IS_AN_ANSWER = {
    "get_item", "update_item", "put_item", "delete_item", "transact_write_items",
    # Of the stream its reader says itself what an answer lacks.
    "list_shards", "describe_stream_summary",
}
ROLE = (
    b"<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>AKIAIOSFODNN7EXAMPLE"
    b"</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
    b"<Expiration>2036-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>"
    b"</AssumeRoleResponse>"
)


class Answering(ThreadingHTTPServer):
    """A service that answers everything with one body."""

    body = b"{}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = self.server.body  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815 - as the base class has it

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def answering() -> Iterator[Answering]:
    server = Answering(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def session() -> boto3.Session:
    return boto3.Session(
        aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1"
    )


def bodies(good: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    yield "a list", b"[]"
    yield "a number", b"7"
    yield "a page", b"<html><body>Sign in"
    yield "cut off", good[: len(good) // 2] if len(good) > 2 else b"{"
    if name not in EMPTY_IS_AN_ANSWER:
        yield "no members", b"{}"
        yield "nothing", b""


@pytest.mark.parametrize(("service", "name"), CALLS, ids=lambda part: part)
def test_no_malformed_answer_is_an_answer(answering, service, name):
    words, good = CALLS[service, name]
    boto = client_of(session(), service, "us-east-1", answering.url, "it")
    for what, body in bodies(good, name):
        answering.body = body
        with pytest.raises(CAUGHT) as failed:
            getattr(boto, name)(**words)
        lost = isinstance(failed.value, LOST) or failed_inside(failed.value)
        assert lost, (what, failed.value)
    answering.body = good
    getattr(boto, name)(**words)


@pytest.mark.parametrize("wrong", [
    b'{"Item":[]}', b'{"Item":{"leaseKey":"shardId-000000000001"}}',
    b'{"Item":{"leaseKey":{"S":7}}}',
])  # fmt: skip
def test_a_member_of_another_type_is_no_answer(answering, wrong):
    boto = client_of(session(), "dynamodb", "us-east-1", answering.url, "it")
    answering.body = wrong
    with pytest.raises(ResponseParserError, match="GetItem"):
        boto.get_item(TableName="app", Key=KEY)


def test_a_read_of_a_row_that_was_cut_off_could_not_tell(answering):
    """boto3 alone answers with no Item: an absent row, where there is one."""
    plain = session().client(
        "dynamodb", endpoint_url=answering.url, config=Config(retries={"total_max_attempts": 1})
    )
    answering.body = ROW[:40]
    with suppress(BotoCoreError, ClientError, ResponseParserError):  # a later boto3 may see it
        assert "Item" not in plain.get_item(TableName="app", Key=KEY)
    pauses: list[float] = []
    client = Client(session(), "app", "us-east-1", answering.url, pauses.append)
    with pytest.raises(CannotTell) as told:
        client.read("get_item", "dynamodb:GetItem", "reading 1", TableName="app", Key=KEY)
    assert told.value.exit is Exit.UNKNOWN
    assert "reading 1" in told.value.what and "does not answer" in told.value.what
    assert pauses, "it was tried again"


def test_a_malformed_answer_to_a_write_is_a_lost_one(answering):
    boto = client_of(session(), "dynamodb", "us-east-1", answering.url, "it")
    answering.body = b"[]"
    with pytest.raises(CAUGHT) as failed:
        boto.put_item(TableName="app", Item=KEY)
    assert kind_of(failed.value) is Kind.LOST


def test_a_malformed_role_is_no_role(answering):
    for body in (b"", b"[]", ROLE[:-40], b"<AssumeRoleResponse/>", b"<html><body>"):
        answering.body = body
        with pytest.raises(ResponseParserError, match="AssumeRole"):
            assumed(session(), "arn:aws:iam::123456789012:role/r", endpoint_url=answering.url)
    answering.body = ROLE
    assert assumed(session(), "arn:aws:iam::123456789012:role/r", endpoint_url=answering.url)


@pytest.mark.parametrize(("register", "event"), [
    (refuse_malformed, "before-parse.s3.GetObject"),
    (keep_pages_raw, "before-parse.kinesis.ListShards"),
    (keep_records_raw, "before-parse.kinesis.GetRecords"),
])  # fmt: skip
def test_a_client_that_is_used_again_reads_each_answer_once(register, event):
    client = SimpleNamespace(meta=SimpleNamespace(events=HierarchicalEmitter()))
    for _ in range(3):
        register(client)
    refused = {"status_code": 500, "headers": {}, "body": b""}
    model = SimpleNamespace(output_shape=None)
    answers = client.meta.events.emit(
        event, operation_model=model, response_dict=refused, customized_response_dict={}
    )
    assert len(answers) == 1
