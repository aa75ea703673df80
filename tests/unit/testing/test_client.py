"""The in-process client: boto3's calling style and botocore's exceptions."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ParamValidationError

from reshardctl.testing.fake import Client
from reshardctl.testing.requests import REQUIRED, unknown_parameters
from tests.unit.testing.samples import split_stream


@pytest.fixture(scope="module")
def model() -> Any:
    return boto3.client("kinesis", region_name="us-east-1").meta.service_model


@pytest.mark.parametrize("action", sorted(REQUIRED))
def test_parameters_are_those_of_the_api_model(model: Any, action: str) -> None:
    # The service description that botocore ships.
    shape = model.operation_model(action).input_shape
    members = set(shape.members) if shape is not None else set()
    required = set(shape.required_members) if shape is not None else set()
    # Newer models know streams that place records by themselves; the fake has none of these.
    assert set(REQUIRED[action]) - required <= {"PartitionKey"}
    assert required <= set(REQUIRED[action])
    later = {"DryRun", "WarmThroughputMiBps", "MaxRecordSizeInKiB", "RecordDistributionStrategy"}
    assert unknown_parameters(action, dict.fromkeys(members - later)) == []
    assert unknown_parameters(action, {"Nonsense": 1}) == ["Nonsense"]


def test_a_mistyped_method_or_parameter_is_noticed(client):
    with pytest.raises(AttributeError, match="list_shard"):
        client.list_shard(StreamName="orders")
    with pytest.raises(ParamValidationError, match='Unknown parameter in input: "Stream"'):
        client.list_shards(Stream="orders")
    with pytest.raises(
        ParamValidationError, match='Missing required parameter in input: "ShardId"'
    ):
        client.get_shard_iterator(StreamName="orders", ShardIteratorType="LATEST")


def test_errors_can_be_caught_by_their_class(client):
    with pytest.raises(named(client, "ResourceNotFoundException")) as caught:
        client.list_shards(StreamName="nope")
    assert isinstance(caught.value, ClientError)
    assert caught.value.operation_name == "ListShards"
    assert isinstance(caught.value, client.exceptions.ClientError)
    assert not isinstance(caught.value, named(client, "LimitExceededException"))


def named(client: Client, name: str) -> type[ClientError]:
    """The class of a client's errors with this name."""
    error: type[ClientError] = getattr(client.exceptions, name)
    assert issubclass(error, ClientError)
    return error


def test_the_region_belongs_to_the_client() -> None:
    client = split_stream().client(region_name="eu-central-1")
    assert isinstance(client, Client)
    assert client.meta.region_name == "eu-central-1"
    client.close()


def test_text_is_taken_for_a_blob_as_boto3_does(fake):
    fake.client().put_record(StreamName="orders", Data="h\u00e4", PartitionKey="b")
    assert fake.stream("orders").shards[1].records[-1].payload == "h\u00e4".encode()
