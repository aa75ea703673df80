"""Scenes of SplitShard, MergeShards and UpdateShardCount, and of puts meanwhile and after."""

from __future__ import annotations

from fractions import Fraction

from tests.proof.libraries.second_opinion.scene import QUARTER, Answers, scene
from tests.proof.libraries.second_opinion.service import Service, code_of
from tests.proof.libraries.second_opinion.shapes import (
    SPACE,
    edge,
    edges,
    is_open,
    lineage,
    number_of,
    numbers,
    shard_id,
    span,
)

_TRIES = 10


@scene
def splitting(service: Service) -> Answers:
    """SplitShard: two children of half each, and where records then go."""
    name = service.stream(2)
    service.split(name, 0, QUARTER)
    puts = {
        str(at): number_of(service.put(name, at, "x")[0]["ShardId"])
        for at in (Fraction(0), Fraction(1, 8), QUARTER, Fraction(3, 8), Fraction(5, 8))
    }
    service.split(name, 3, Fraction(3, 8))
    return {
        "puts go to": puts,
        "lineage": lineage(service.shards(name)),
        "open shards": service.summary(name)["OpenShardCount"],
        "by partition key": _by_key(service, name),
    }


def _by_key(service: Service, stream: str) -> dict[str, int]:
    """Which shard takes a record with a partition key only, by one call and by many."""
    keys = ("a", "b", "c", "d", "e", "f")
    one = {
        key: service.boto.put_record(StreamName=stream, Data=b"x", PartitionKey=key)["ShardId"]
        for key in keys
    }
    entries = [{"Data": b"x", "PartitionKey": key} for key in keys]
    many = service.boto.put_records(StreamName=stream, Records=entries)
    assert many["FailedRecordCount"] == 0
    assert [found["ShardId"] for found in many["Records"]] == list(one.values())
    return {key: number_of(shard) for key, shard in one.items()}


@scene
def updating(service: Service) -> Answers:
    """While the stream is UPDATING; asked again if it was over before all was asked."""
    boto = service.boto
    for _ in range(_TRIES):
        name = service.stream(2)
        words = {"StreamName": name, "ShardToSplit": shard_id(0)}
        boto.split_shard(**words, NewStartingHashKey=edge(QUARTER))
        pair = {"ShardToMerge": shard_id(0), "AdjacentShardToMerge": shard_id(1)}
        scale = {"TargetShardCount": 4, "ScalingType": "UNIFORM_SCALING"}
        answers = {
            "listed": numbers(service.shards(name)),
            "open shards": service.summary(name)["OpenShardCount"],
            "put goes to": number_of(service.put(name, Fraction(0), "x")[0]["ShardId"]),
            "split": code_of(boto.split_shard, **words, NewStartingHashKey=edge(QUARTER)),
            "merge": code_of(boto.merge_shards, StreamName=name, **pair),
            "scale": code_of(boto.update_shard_count, StreamName=name, **scale),
            "retention": code_of(
                boto.increase_stream_retention_period, StreamName=name, RetentionPeriodHours=48
            ),
            "iterator": code_of(service.iterator, stream=name, shard=1, kind="LATEST"),
        }
        if service.status(name) == "UPDATING":
            service.settle(name)
            return answers
        service.settle(name)
    raise AssertionError("a split is over before eight questions are asked")


@scene
def merging(service: Service) -> Answers:
    """MergeShards: one child of two parents, ParentShardId the one that was named first."""
    name = service.stream(3)
    merge = service.boto.merge_shards
    pair = {"ShardToMerge": shard_id(0), "AdjacentShardToMerge": shard_id(1)}
    turned = {"ShardToMerge": shard_id(1), "AdjacentShardToMerge": shard_id(0)}
    apart = {"ShardToMerge": shard_id(0), "AdjacentShardToMerge": shard_id(2)}
    absent = {"ShardToMerge": shard_id(0), "AdjacentShardToMerge": shard_id(9)}

    def code(stream: str = name, **words: str) -> str:
        code = code_of(merge, StreamName=stream, **words)
        service.settle(name)
        return code

    answers: Answers = {"apart": code(**apart), "absent": code(**absent)}
    answers["merged"] = code(**pair)
    answers["lineage"] = lineage(service.shards(name))
    answers["put goes to"] = number_of(service.put(name, Fraction(0), "x")[0]["ShardId"])
    answers["no such stream"] = code("nowhere", **pair)
    answers["upper first"] = code_of(merge, StreamName=service.stream(3), **turned)
    answers["with itself"] = code(
        ShardToMerge=shard_id(2), AdjacentShardToMerge=shard_id(2)
    )
    answers["one of the pair is closed"] = code(
        ShardToMerge=shard_id(1), AdjacentShardToMerge=shard_id(2)
    )
    answers["both are closed"] = code_of(merge, StreamName=name, **pair)
    return answers


@scene
def refused_splits(service: Service) -> Answers:
    """SplitShard where it cannot be done."""
    name = service.stream(4)
    low, high = edges(service.shards(name)[1])
    next_low, _ = edges(service.shards(name)[2])
    service.split(name, 3, Fraction(7, 8))

    def code(shard: int, key: int, stream: str = name) -> str:
        words = {"StreamName": stream, "ShardToSplit": shard_id(shard)}
        code = code_of(service.boto.split_shard, **words, NewStartingHashKey=str(key))
        if code == "accepted":
            service.settle(stream)
        return code

    return {
        "no such stream": code(0, low, "nowhere"),
        "no such shard": code(9, low),
        "closed": code(3, int(edge(Fraction(7, 8)))),
        "outside": code(1, 0),
        "beyond all keys": code(1, SPACE),
        "at its last key": code(1, high),
        "at its first key": code(2, next_low),
    }


@scene
def scaling(service: Service) -> Answers:
    """UpdateShardCount: uniform ranges, within half and double."""
    name = service.stream(2)

    def code(count: int, stream: str = name) -> str:
        words = {"TargetShardCount": count, "ScalingType": "UNIFORM_SCALING"}
        return code_of(service.boto.update_shard_count, StreamName=stream, **words)

    service.scale(name, 4)
    answers: Answers = {"2 to 4": lineage(service.shards(name))}
    service.scale(name, 2)
    answers["4 to 2"] = lineage(service.shards(name))
    answers["open shards"] = service.summary(name)["OpenShardCount"]
    answers["to what it is"] = code(2)
    service.settle(name)
    answers["listed then"] = numbers(service.shards(name))
    answers["beyond double"] = code(5)
    answers["below half"] = code(1, service.stream(4))
    answers["no such stream"] = code(2, "nowhere")
    other = service.stream(4)
    service.scale(other, 3)
    answers["4 to 3"] = sorted(span(shard) for shard in service.shards(other) if is_open(shard))
    return answers
