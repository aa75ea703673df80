"""What the operator is told when Kinesis does not answer, and what never leaves the program."""

from __future__ import annotations

import socket

import boto3
import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.target import target_of
from reshardctl.model import START, shard_id
from reshardctl.testing import serve
from reshardctl.testing.faults import timeout_after, timeout_before
from reshardctl.testing.requests import ApiError
from tests.unit.kinesis.streams import ARN, in_process, over_http, split_stream


@pytest.mark.parametrize(("action", "stream", "resource"), [
    ("DescribeStreamSummary", "orders", "arn:aws:kinesis:us-east-1:*:stream/orders"),
    ("ListShards", ARN, ARN),
    ("GetShardIterator", "orders", "arn:aws:kinesis:us-east-1:*:stream/orders"),
    ("GetRecords", ARN, ARN),
])  # fmt: skip
def test_a_missing_permission_names_the_statement(action, stream, resource, fake, asked):
    fake.faults.add(action, "AccessDeniedException", times=None)
    with pytest.raises(CannotTell) as caught:
        asked.kinesis.lineage(stream)
        asked.kinesis.head(stream, shard_id(0))
    assert caught.value.what == f"no permission for kinesis:{action} on {resource}"
    assert f'"Action": ["kinesis:{action}"], "Resource": "{resource}"' in caught.value.next
    assert asked.waits == []


def test_a_key_that_may_not_be_used(fake):
    fake.faults.add("GetRecords", ApiError("KMSAccessDeniedException", "no"), times=None)
    with pytest.raises(CannotTell, match="cannot be decrypted") as caught:
        in_process(fake).kinesis.probe("orders", shard_id(0), START)
    assert "kms:Decrypt" in caught.value.next


@pytest.mark.parametrize("code", ["ExpiredTokenException", "UnrecognizedClientException"])
def test_credentials_that_are_not_accepted(code, fake):
    secret = "AKIAIOSFODNN7EXAMPLE"
    fake.faults.add("*", ApiError(code, f"token {secret} is no good"), times=None)
    with over_http(fake) as asked, pytest.raises(CannotTell) as caught:
        asked.kinesis.lineage("orders")
    assert f"({code})" in caught.value.what
    assert "renew" in caught.value.next
    assert secret not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert asked.waits == []


@pytest.mark.parametrize(("error", "words"), [
    (ApiError("Odd", "for AKIAIOSFODNN7EXAMPLE not today"), r"Odd: for \(access key\) not today"),
    ("LimitExceededException", r"is throttled .LimitExceededException, 8 attempts"),
    ("WhoKnows", "WhoKnows"), ("ValidationException", "ValidationException"),
    ("InvalidArgumentException", "InvalidArgumentException"),
], ids=["access key", "throttled for good", "unknown", "invalid", "wrong"])
def test_every_failure_is_one_of_ours(fake, asked, error, words):
    fake.faults.add("*", error, times=None)
    with pytest.raises(CannotTell, match=words):
        asked.kinesis.lineage("orders")


def test_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with over_http(split_stream()) as asked, pytest.raises(CannotTell, match="NoCredentials"):
        asked.kinesis.summary("orders")


@pytest.mark.parametrize("partition", ["aws", "aws-cn"])
def test_the_arn_of_a_consumer_leads_to_that_of_its_stream(partition: str) -> None:
    """The pattern of ConsumerARN is that of SubscribeToShard in the Kinesis API reference."""
    stream = f"arn:{partition}:kinesis:us-east-1:123456789012:stream/orders"
    with pytest.raises(UsageError, match="is the ARN of a consumer of the stream") as caught:
        target_of(f"{stream}/consumer/app:1690000000", "us-east-1")
    assert caught.value.next == f"name the stream itself: {stream}"
    assert target_of(stream, "us-east-1").name == "orders"


@pytest.mark.parametrize("end", ["/consumer/", "/consumer/app", "/other/app:1", "/"])
def test_an_arn_of_something_else_is_told_its_form(end: str) -> None:
    with pytest.raises(UsageError, match="is no ARN of a stream"):
        target_of(f"arn:aws:kinesis:us-east-1:123456789012:stream/orders{end}", "us-east-1")


def test_no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(UsageError, match="no region is set") as caught:
        Kinesis(boto3.Session())
    assert "--region" in caught.value.next


def test_an_endpoint_that_is_no_url() -> None:
    with pytest.raises(UsageError, match="the stream cannot be reached"):
        Kinesis(boto3.Session(), endpoint_url="kinesis.local")


def test_an_endpoint_where_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        waits: list[float] = []
        kinesis = Kinesis(boto3.Session(), endpoint_url=url, sleep=waits.append)
        with pytest.raises(CannotTell, match=f"{url} cannot be reached") as caught:
            kinesis.summary("orders")
    assert "AWS_ENDPOINT_URL_KINESIS" in caught.value.next
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


@pytest.mark.parametrize("fault", [timeout_before, timeout_after, "InternalFailure"])
@pytest.mark.parametrize("ways", ["http", "process"])
def test_lost_answers_are_asked_for_again_and_then_given_up(fault, ways, fake):
    fake.faults.add("ListShards", fault, times=7)
    with over_http(fake) as over:
        asked = over if ways == "http" else in_process(fake)
        assert len(asked.kinesis.lineage("orders")) == 4
        fake.faults.add("ListShards", fault, times=None)
        with pytest.raises(CannotTell, match=r"8 attempts|cannot be reached"):
            asked.kinesis.lineage("orders")


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_KINESIS", "AWS_ENDPOINT_URL"])
def test_the_endpoint_of_the_environment_is_used(fake, monkeypatch, name):
    with serve(fake) as server:
        monkeypatch.setenv(name, server.url)
        assert Kinesis(boto3.Session()).summary("orders").name == "orders"


def test_profile_and_region_come_from_the_session(tmp_path, monkeypatch):
    config = tmp_path / "config"
    config.write_text("[profile other]\nregion = eu-west-1\nuse_fips_endpoint = true\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    kinesis = Kinesis(boto3.Session(profile_name="other"))
    assert kinesis.region == "eu-west-1"
    endpoint = kinesis._transport._client.meta.endpoint_url
    assert endpoint == "https://kinesis-fips.eu-west-1.amazonaws.com"
    assert Kinesis(boto3.Session(profile_name="other"), region="us-west-2").region == "us-west-2"


def test_other_clients_of_the_session_still_parse_for_themselves(fake):
    session = boto3.Session()
    with serve(fake) as server:
        Kinesis(session, endpoint_url=server.url).lineage("orders")
        plain = session.client("kinesis", endpoint_url=server.url)
        (child,) = plain.list_shards(StreamName="orders", MaxResults=1)["Shards"]
    assert child["ShardId"] == shard_id(0)
