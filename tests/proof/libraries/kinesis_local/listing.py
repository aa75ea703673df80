"""Scenes of ListShards: filters and pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.proof.libraries.kinesis_local.scene import LATER, QUARTER, Answers, scene
from tests.proof.libraries.kinesis_local.service import Service, code_of
from tests.proof.libraries.kinesis_local.shapes import numbers, shard_id


@scene
def filters(service: Service) -> Answers:
    """ListShards with a ShardFilter or a start."""
    name = service.stream(2)
    service.split(name, 0, QUARTER)
    between = datetime.fromtimestamp(service.elapse(), UTC)
    service.merge(name, 3, 1)
    before = service.summary(name)["StreamCreationTimestamp"]

    def listed(**words: Any) -> list[int] | str:
        try:
            return numbers(service.shards(name, **words))
        except service.boto.exceptions.ClientError as refused:
            return str(refused.response["Error"]["Code"])

    def kept(kind: str, **more: Any) -> list[int] | str:
        return listed(ShardFilter={"Type": kind, **more})

    return {
        "none": listed(),
        "AT_LATEST": kept("AT_LATEST"),
        "FROM_TRIM_HORIZON": kept("FROM_TRIM_HORIZON"),
        "AT_TRIM_HORIZON": kept("AT_TRIM_HORIZON"),
        "AT_TIMESTAMP between": kept("AT_TIMESTAMP", Timestamp=between),
        "FROM_TIMESTAMP between": kept("FROM_TIMESTAMP", Timestamp=between),
        "AT_TIMESTAMP later": kept("AT_TIMESTAMP", Timestamp=LATER),
        "FROM_TIMESTAMP at creation": kept("FROM_TIMESTAMP", Timestamp=before),
        "AFTER_SHARD_ID": kept("AFTER_SHARD_ID", ShardId=shard_id(2)),
        "start": listed(ExclusiveStartShardId=shard_id(2)),
        "start behind all": listed(ExclusiveStartShardId=shard_id(99)),
        "no timestamp": kept("AT_TIMESTAMP"),
        "no shard": kept("AFTER_SHARD_ID"),
        "no such type": kept("SOME_OTHER"),
    }


@scene
def paging(service: Service) -> Answers:
    """ListShards by NextToken; a later page takes the token alone."""
    name = service.stream(5)
    ask = service.boto.list_shards
    token = ask(StreamName=name, MaxResults=2)["NextToken"]
    created = service.summary(name)["StreamCreationTimestamp"]
    wide = service.stream(250)
    return {
        "pages": [numbers(page) for page in service.pages(StreamName=name, MaxResults=2)],
        "with MaxResults": numbers(ask(NextToken=token, MaxResults=1)["Shards"]),
        "with StreamName": code_of(ask, NextToken=token, StreamName=name),
        "with a start": code_of(ask, NextToken=token, ExclusiveStartShardId=shard_id(2)),
        "with a filter": code_of(ask, NextToken=token, ShardFilter={"Type": "AT_LATEST"}),
        "with a time": code_of(ask, NextToken=token, StreamCreationTimestamp=created),
        "nonsense": code_of(ask, NextToken="nonsense"),
        "nothing": code_of(ask),
        "no such stream": code_of(ask, StreamName="nowhere"),
        "too many": code_of(ask, StreamName=name, MaxResults=10001),
        "sizes of 250": [len(page) for page in service.pages(StreamName=wide)],
        "250 in order": numbers(service.shards(wide)) == list(range(250)),
    }
