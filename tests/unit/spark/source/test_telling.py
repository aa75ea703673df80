"""What a query's user is told: what happened and what to do, in the words of options."""

from __future__ import annotations

import boto3
import pytest

from reshardctl.aws.client import client_of
from reshardctl.errors import ReshardError
from reshardctl.kinesis import Kinesis
from reshardctl.spark.source.options import told
from reshardctl.testing.fake import FakeKinesis


def no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    client_of(boto3.Session(), "kinesis", None, None, "the stream")


def no_stream(_: pytest.MonkeyPatch) -> None:
    Kinesis.of_client(FakeKinesis().client()).lineage("ordrs")


def no_name(_: pytest.MonkeyPatch) -> None:
    Kinesis.of_client(FakeKinesis().client()).lineage("what? no")


def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    session = boto3.Session(region_name="us-east-1")
    pauses: list[float] = []
    lists = Kinesis(session, endpoint_url="http://127.0.0.1:9", sleep=pauses.append)
    lists.lineage("orders")


@pytest.mark.parametrize(
    ("fails", "way"),
    [
        (no_region, 'add .option("region", "us-east-1"), or set AWS_DEFAULT_REGION'),
        (no_stream, 'check .option("region", …) and the credentials: aws kinesis list-streams --'),
        (no_name, "give streamName a name or a stream's ARN"),
        (nobody, "check the network, the options region and endpointUrl"),
    ],
)
def test_the_way_on_names_options(fails, way, monkeypatch):
    with pytest.raises(ReshardError) as error:
        fails(monkeypatch)
    what, *ways = str(told(error.value)).split("\n")
    assert what == error.value.what
    assert "\n".join(ways).startswith(way)
