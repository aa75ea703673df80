"""Scenes of ListShards: filters and pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.proof.libraries.second_opinion.scene import LATER, QUARTER, Answers, scene
from tests.proof.libraries.second_opinion.service import Service, answer_of, code_of
from tests.proof.libraries.second_opinion.shapes import numbers, shard_id


@scene
def filters(service: Service) -> Answers:
    """ListShards with a ShardFilter or a start."""
    name = service.stream(2)
    service.split(name, 0, QUARTER)
    between = datetime.fromtimestamp(service.elapse(), UTC)
    service.merge(name, 3, 1)
    created = service.summary(name)["StreamCreationTimestamp"]
    before = created - timedelta(days=2)

    def listed(**words: Any) -> list[int] | str:
        return answer_of(lambda: numbers(service.shards(name, **words)))

    def kept(kind: str, **more: Any) -> list[int] | str:
        return listed(ShardFilter={"Type": kind, **more})

    return {
        "none": listed(),
        "AT_LATEST": kept("AT_LATEST"),
        "FROM_TRIM_HORIZON": kept("FROM_TRIM_HORIZON"),
        "AT_TRIM_HORIZON": kept("AT_TRIM_HORIZON"),
        "AT_TIMESTAMP between": kept("AT_TIMESTAMP", Timestamp=between),
        "AT_TIMESTAMP later": kept("AT_TIMESTAMP", Timestamp=LATER),
        "FROM_TIMESTAMP between": kept("FROM_TIMESTAMP", Timestamp=between),
        "FROM_TIMESTAMP at creation": kept("FROM_TIMESTAMP", Timestamp=created),
        "FROM_TIMESTAMP before the horizon": kept("FROM_TIMESTAMP", Timestamp=before),
        "FROM_TIMESTAMP later": kept("FROM_TIMESTAMP", Timestamp=LATER),
        "AFTER_SHARD_ID": kept("AFTER_SHARD_ID", ShardId=shard_id(2)),
        "AFTER_SHARD_ID, the last": kept("AFTER_SHARD_ID", ShardId=shard_id(4)),
        "start": listed(ExclusiveStartShardId=shard_id(2)),
        "start at the last": listed(ExclusiveStartShardId=shard_id(4)),
        "start behind all": listed(ExclusiveStartShardId=shard_id(99)),
        "start and AT_LATEST": listed(
            ExclusiveStartShardId=shard_id(2), ShardFilter={"Type": "AT_LATEST"}
        ),
        "no timestamp": kept("AT_TIMESTAMP"),
        "no start of a timestamp": kept("FROM_TIMESTAMP"),
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
    other = service.stream(1)

    def pages(**words: Any) -> list[list[int]] | str:
        return answer_of(lambda: [numbers(page) for page in service.pages(**words)])

    return {
        "first page": numbers(ask(StreamName=name, MaxResults=2)["Shards"]),
        "pages": pages(StreamName=name, MaxResults=2),
        "pages after a start": pages(
            StreamName=name, MaxResults=2, ExclusiveStartShardId=shard_id(0)
        ),
        "pages of a filter": pages(
            StreamName=name, MaxResults=3, ShardFilter={"Type": "AT_LATEST"}
        ),
        "as many as there are": "NextToken" in ask(StreamName=name, MaxResults=5),
        "with MaxResults": answer_of(
            lambda: numbers(ask(NextToken=token, MaxResults=1)["Shards"])
        ),
        "the token again": answer_of(lambda: numbers(ask(NextToken=token)["Shards"])),
        "with StreamName": code_of(ask, NextToken=token, StreamName=name),
        "with another StreamName": code_of(ask, NextToken=token, StreamName=other),
        "with a start": code_of(ask, NextToken=token, ExclusiveStartShardId=shard_id(2)),
        "with a filter": code_of(ask, NextToken=token, ShardFilter={"Type": "AT_LATEST"}),
        "with a time": code_of(ask, NextToken=token, StreamCreationTimestamp=created),
        "nonsense": code_of(ask, NextToken="nonsense"),
        "nothing": code_of(ask),
        "no such stream": code_of(ask, StreamName="nowhere"),
        "too many": code_of(ask, StreamName=name, MaxResults=10001),
    }


@scene
def wide_pages(service: Service) -> Answers:
    """ListShards of 250 shards, without MaxResults."""
    name = service.stream(250)
    return {
        "sizes": answer_of(lambda: [len(page) for page in service.pages(StreamName=name)]),
        "in order": answer_of(lambda: numbers(service.shards(name)) == list(range(250))),
    }


@scene
def same_names(service: Service) -> Answers:
    """StreamCreationTimestamp tells streams of one name apart."""
    name = service.stream(2)
    created = service.summary(name)["StreamCreationTimestamp"]

    def listed(when: datetime) -> list[int] | str:
        return answer_of(lambda: numbers(service.shards(name, StreamCreationTimestamp=when)))

    return {
        "its own time": listed(created),
        "another time": listed(created - timedelta(hours=1)),
    }
