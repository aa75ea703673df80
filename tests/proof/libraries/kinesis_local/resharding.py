"""Scenes of whole streams: made, split, merged, scaled, deleted."""

from __future__ import annotations

from fractions import Fraction

from tests.proof.libraries.kinesis_local.scene import QUARTER, Answers, scene
from tests.proof.libraries.kinesis_local.service import Service, code_of
from tests.proof.libraries.kinesis_local.shapes import (
    edge,
    edges,
    is_open,
    lineage,
    number_of,
    numbers,
    shard_id,
    span,
)


@scene
def creation(service: Service) -> Answers:
    """CreateStream: uniform ranges to the last key; a summary; a name that is taken."""
    answers: Answers = {
        f"edges of {count}": [edges(shard) for shard in service.shards(service.stream(count))]
        for count in (1, 2, 3, 4, 5)
    }
    name = service.stream(3)
    found = service.summary(name)
    kept = ("StreamStatus", "RetentionPeriodHours", "EncryptionType", "OpenShardCount")
    answers["summary"] = {member: found[member] for member in kept}
    answers["mode"] = found["StreamModeDetails"]["StreamMode"]
    answers["arn"] = found["StreamARN"].replace(name, "NAME")
    by_arn = service.boto.list_shards(StreamARN=found["StreamARN"])["Shards"]
    answers["by arn"] = numbers(by_arn)
    answers["taken"] = code_of(service.boto.create_stream, StreamName=name, ShardCount=1)
    return answers


@scene
def splitting(service: Service) -> Answers:
    """SplitShard: two children of half each, and where records then go."""
    name = service.stream(2)
    service.split(name, 0, QUARTER)
    puts = {
        str(at): number_of(service.put(name, at, "x")[0]["ShardId"])
        for at in (Fraction(0), Fraction(1, 8), QUARTER, Fraction(3, 8), Fraction(5, 8))
    }
    return {
        "lineage": lineage(service.shards(name)),
        "open shards": service.summary(name)["OpenShardCount"],
        "puts go to": puts,
    }


@scene
def updating(service: Service) -> Answers:
    """While the stream is UPDATING; asked again if it was over before all was asked."""
    for _ in range(5):
        name = service.stream(2)
        words = {"StreamName": name, "ShardToSplit": shard_id(0)}
        service.boto.split_shard(**words, NewStartingHashKey=edge(QUARTER))
        answers = {
            "listed": numbers(service.shards(name)),
            "split": code_of(service.boto.split_shard, **words, NewStartingHashKey=edge(QUARTER)),
            "iterator": code_of(service.iterator, stream=name, shard=1, kind="LATEST"),
        }
        if service.status(name) == "UPDATING":
            return answers
    raise AssertionError("a split is over before three questions are asked")


@scene
def merging(service: Service) -> Answers:
    """MergeShards: one child of two parents, ParentShardId the one that was named first."""
    name = service.stream(3)
    merge = service.boto.merge_shards
    pair = {"ShardToMerge": shard_id(0), "AdjacentShardToMerge": shard_id(1)}
    turned = {"ShardToMerge": shard_id(1), "AdjacentShardToMerge": shard_id(0)}
    apart = {"ShardToMerge": shard_id(0), "AdjacentShardToMerge": shard_id(2)}
    absent = {"ShardToMerge": shard_id(0), "AdjacentShardToMerge": shard_id(9)}
    answers: Answers = {
        "apart": code_of(merge, StreamName=name, **apart),
        "absent": code_of(merge, StreamName=name, **absent),
    }
    merge(StreamName=name, **pair)
    service.settle(name)
    answers["lineage"] = lineage(service.shards(name))
    answers["again"] = code_of(merge, StreamName=name, **pair)
    answers["upper first"] = code_of(merge, StreamName=service.stream(3), **turned)
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
        "at its last key": code(1, high),
        "at its first key": code(2, next_low),
    }


@scene
def scaling(service: Service) -> Answers:
    """UpdateShardCount: uniform ranges, within half and double."""
    name = service.stream(2)

    def code(count: int) -> str:
        words = {"TargetShardCount": count, "ScalingType": "UNIFORM_SCALING"}
        return code_of(service.boto.update_shard_count, StreamName=name, **words)

    answers: Answers = {"beyond double": code(5)}
    service.scale(name, 4)
    answers["2 to 4"] = lineage(service.shards(name))
    answers["below half"] = code(1)
    service.scale(name, 2)
    answers["4 to 2"] = lineage(service.shards(name))
    other = service.stream(4)
    service.scale(other, 3)
    answers["4 to 3"] = sorted(span(shard) for shard in service.shards(other) if is_open(shard))
    return answers


@scene
def deletion(service: Service) -> Answers:
    """DeleteStream; the name then belongs to nobody."""
    name = service.stream(1)
    boto = service.boto
    boto.delete_stream(StreamName=name)
    answers = {"listed meanwhile": code_of(boto.list_shards, StreamName=name)}
    service.vanish(name)
    answers["summary"] = code_of(boto.describe_stream_summary, StreamName=name)
    answers["listed"] = code_of(boto.list_shards, StreamName=name)
    answers["put"] = code_of(boto.put_record, StreamName=name, Data=b"x", PartitionKey="k")
    return answers
