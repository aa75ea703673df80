"""Streams and small questions that the tests of the fake share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from reshardctl.testing import FakeKinesis, load_topology

GOLDEN = Path(__file__).parents[2] / "golden"
CREATED = 1_795_232_267

SPLIT: dict[str, Any] = {
    "name": "orders",
    "created": CREATED,
    "now": 3600,
    "shards": [
        {"id": 0, "range": ["0", "1/2"], "close": 600, "records": {"n": 4, "from": 10, "to": 590}},
        {"id": 1, "range": ["1/2", "1"], "records": {"n": 4, "from": 10, "to": 2390}},
        {"id": 2, "range": ["0", "1/4"], "parents": [0]},
        {"id": 3, "range": ["1/4", "1/2"], "parents": [0]},
    ],
}
"""Two shards; 0 was split into 2 and 3 after ten minutes; an hour old; 2 and 3 are empty."""


def split_stream(**changes: Any) -> FakeKinesis:
    """A fake that holds SPLIT with some of its keys changed."""
    return load_topology({**SPLIT, **changes})


def new_stream(count: int, **settings: Any) -> FakeKinesis:
    """A fake with an active stream "orders" of `count` shards."""
    fake = FakeKinesis()
    for name, value in settings.items():
        setattr(fake.settings, name, value)
    fake.client().create_stream(StreamName="orders", ShardCount=count)
    fake.settle()
    return fake


def recreate(fake: FakeKinesis, count: int) -> None:
    """Delete "orders", and make another stream of this name."""
    client = fake.client()
    client.delete_stream(StreamName="orders")
    fake.settle()
    client.create_stream(StreamName="orders", ShardCount=count)
    fake.settle()


def reshard_to(fake: FakeKinesis, count: int) -> dict[str, Any]:
    """The answer to UpdateShardCount of "orders"; nothing has changed yet."""
    answer: dict[str, Any] = fake.client().update_shard_count(
        StreamName="orders", TargetShardCount=count, ScalingType="UNIFORM_SCALING"
    )
    return answer


def refusal(question: Any, **params: Any) -> tuple[str, str]:
    """(code, text) of the error that a client's method raises."""
    with pytest.raises(ClientError) as caught:
        question(**params)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def pages(client: Any, **params: Any) -> Iterator[list[str]]:
    """The ids on each page of a listing, paged as the service wants it."""
    answer = client.list_shards(**params)
    while True:
        yield [shard["ShardId"] for shard in answer["Shards"]]
        if "NextToken" not in answer:
            return
        answer = client.list_shards(NextToken=answer["NextToken"])


def listed(client: Any, **params: Any) -> dict[int, dict[str, Any]]:
    """The listed shards of "orders" by number."""
    shards = client.list_shards(StreamName="orders", **params)["Shards"]
    return {int(shard["ShardId"][8:]): shard for shard in shards}


def kept(client: Any, shard: int, stream: str = "orders") -> list[list[str]]:
    """[number, payload] of each record of a shard."""
    answer = client.get_records(ShardIterator=iterator(client, shard, stream=stream))
    return [[r["SequenceNumber"], r["Data"].decode()] for r in answer["Records"]]


def iterator(
    client: Any, shard: int, kind: str = "TRIM_HORIZON", stream: str = "orders", **params: Any
) -> str:
    """A shard iterator."""
    answer = client.get_shard_iterator(
        StreamName=stream, ShardId=f"shardId-{shard:012d}", ShardIteratorType=kind, **params
    )
    token: str = answer["ShardIterator"]
    return token


def read(client: Any, shard: int, kind: str = "TRIM_HORIZON", **params: Any) -> list[str]:
    """The payloads of one GetRecords answer from such an iterator."""
    answer = client.get_records(ShardIterator=iterator(client, shard, kind, **params))
    return [record["Data"].decode() for record in answer["Records"]]


def golden(name: str) -> Any:
    """A golden file."""
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))
