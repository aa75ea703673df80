"""The source is registered; its options: in any case, refused by name where nobody knows them, and
named in what a query's user is told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest

from reshardctl.aws.client import client_of
from reshardctl.errors import ReshardError, UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.model import shard_id
from reshardctl.spark.source import _tasks, register
from reshardctl.spark.source.options import (
    BATCH,
    COMMON,
    STREAMING,
    Start,
    parse_starting,
    stream_options,
    told,
)
from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.shards import end, start

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
NUMBER = str(int(start(0, 1_795_232_267)) + (1 << 80))


@pytest.mark.parametrize(("master", "cores", "tasks"), [
    ("local[2]", 2, 8), ("yarn", 2, 64), ("k8s://x", 100, 400),
])  # fmt: skip
def test_a_batch_has_tasks_for_the_cores_that_there_are(master, cores, tasks):
    context = SimpleNamespace(defaultParallelism=cores, master=master)
    assert _tasks(SimpleNamespace(sparkContext=context)) == tasks


def test_where_the_cores_are_not_told_a_batch_has_64_tasks_at_most():
    """Spark Connect has no sparkContext."""
    assert _tasks(SimpleNamespace()) == 64


def test_what_holds_without_a_word():
    found = stream_options({"streamName": "orders"})
    assert found.common.stream == found.common.stream_name == "orders"
    assert found.starting.everywhere == Start("TRIM_HORIZON")
    assert found.fail_on_loss
    assert found.most is None
    assert found.common.unpack
    assert found.common.shards_per_task is None
    assert found.common.reach.region is None


def test_names_in_any_case_and_all_of_them():
    found = stream_options({
        "STREAMARN": ARN, "endpointurl": "http://127.0.0.1:1", "RoleArn": "arn:aws:iam::1:role/r",
        "rolesessionname": "spark", "roleexternalid": "x", "failondataloss": "FALSE",
        "maxRecordsPerTrigger": "500", "unpackAggregates": "false", "shardsPerTask": "4",
        "startingPosition": "latest",
    })  # fmt: skip
    assert found.common.stream == ARN
    assert found.common.stream_name == "orders"
    assert found.common.reach.region == "eu-west-1"
    assert found.common.reach.role_external_id == "x"
    assert (found.fail_on_loss, found.most, found.common.unpack) == (False, 500, False)
    assert found.starting.everywhere == Start("LATEST")


WRONG = {
    "streamNam": ("orders", "did you mean streamName"),
    "kinesis.streamName": ("orders", "did you mean streamName"),
    "kinesis.startingposition": ("LATEST", "did you mean startingPosition"),
    "startingPositon": ("LATEST", "did you mean startingPosition? the options are streamName, "),
    "awsSecretKey": ("x", "use the environment, a profile or roleArn; the options are streamName"),
    "path": ("orders", "use streamName"),
    "kinesis.endpoint": ("http://127.0.0.1:1", "use endpointUrl"),
    "schema": ("a INT", "use no schema: the columns are fixed"),
    "maxFetchRecordsPerShard": ("5", "unknown option"),
    "endingLine": ("TIP", "unknown option"),
    "failOnDataLoss": ("yes", "write true or false"),
    "maxRecordsPerTrigger": ("0", "whole number from 1 on"),
    "shardsPerTask": ("all", "whole number from 1 on"),
    "streamARN": (ARN, "both streamName and streamARN"),
    "roleSessionName": ("x", "without roleArn"),
    "startingPosition": ("EARLIEST", "write TRIM_HORIZON, LATEST"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense_is_refused(name):
    value, words = WRONG[name]
    with pytest.raises(UsageError) as error:
        stream_options({"streamName": "orders", name: value})
    assert words in f"{error.value.what}\n{error.value.next}"
    assert value == "orders" or "secret" not in name.lower() or value not in error.value.what


def test_a_stream_has_to_be_named_and_its_region_once():
    with pytest.raises(UsageError, match="no streamName or streamARN is given"):
        stream_options({"region": "eu-west-1"})
    with pytest.raises(UsageError, match="is in eu-west-1, but region says us-east-1"):
        stream_options({"streamARN": ARN, "region": "us-east-1"})
    with pytest.raises(UsageError, match="is no ARN"):
        stream_options({"streamARN": "orders"})


@pytest.mark.parametrize("text", [
    "AT_TIMESTAMP 2026-09-22T09:14:00Z", "at_timestamp 1790068440", "AT_TIMESTAMP 1790068440.0",
    "AT_TIMESTAMP 2026-09-22T11:14:00+02:00",
])  # fmt: skip
def test_a_time(text):
    assert parse_starting(text).everywhere == Start("AT_TIMESTAMP", 1_790_068_440)


def test_a_place_for_each_shard():
    found = parse_starting(
        f'{{"{shard_id(0)}": {{"AFTER_SEQUENCE_NUMBER": "{NUMBER}"}}, "{shard_id(1)}": "latest", '
        f'"{shard_id(2)}": {{"AT_TIMESTAMP": "2026-09-22T09:14:00Z"}}, '
        f'"{shard_id(3)}": "SHARD_END"}}'
    )
    assert found.everywhere is None
    assert found.shards == {
        shard_id(0): Start("AFTER_SEQUENCE_NUMBER", NUMBER),
        shard_id(1): Start("LATEST"),
        shard_id(2): Start("AT_TIMESTAMP", 1_790_068_440),
        shard_id(3): Start("SHARD_END"),
    }
    assert parse_starting(f'{{"{shard_id(0)}": "{NUMBER}"}}').shards == {
        shard_id(0): Start("AFTER_SEQUENCE_NUMBER", NUMBER)
    }


ENDING = str(end(0, 1_795_232_264, 1_795_233_267))


@pytest.mark.parametrize(("text", "words"), [
    ("AT_TIMESTAMP", "write TRIM_HORIZON"),
    ("AT_TIMESTAMP 2026-09-22T09:14:00", "has no zone"),
    ("AT_TIMESTAMP 1790068440000", "seconds, not milliseconds"),
    ("{", "is no JSON"),
    ("{}", "names no shard"),
    ('{"0": "LATEST"}', "'0' is no shard id"),
    (f'{{"{shard_id(0)}": "EARLIEST"}}', "no sequence number"),
    (f'{{"{shard_id(0)}": 5}}', "is '5'"),
    (f'{{"{shard_id(1)}": "{NUMBER}"}}', "is a number of shard 0"),
    (f'{{"{shard_id(0)}": "{ENDING}"}}', "which no record has"),
])  # fmt: skip
def test_a_place_that_makes_no_sense(text, words):
    with pytest.raises(UsageError) as error:
        parse_starting(text)
    assert words in f"{error.value.what}\n{error.value.next}"


COLUMNS = (
    "data", "partition_key", "sequence_number", "sub_sequence_number", "shard_id", "stream",
    "approximate_arrival_timestamp",
)  # fmt: skip


def test_the_page_names_every_option_and_every_column():
    page = (Path(__file__).parents[4] / "docs" / "source.md").read_text(encoding="utf-8")
    for name in (*COMMON, *STREAMING, *BATCH, *COLUMNS):
        assert f"`{name}`" in page, name


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


def test_a_spark_that_is_too_old():
    with pytest.raises(UsageError, match=r"needs Spark 4\.0 or later, this session runs 3\.5\.9"):
        register(SimpleNamespace(version="3.5.9"))
