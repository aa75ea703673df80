"""Scenes of whole streams: made, described, kept for longer, deleted and made again."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from tests.proof.libraries.second_opinion.scene import QUARTER, Answers, scene
from tests.proof.libraries.second_opinion.service import Service, answer_of, code_of
from tests.proof.libraries.second_opinion.shapes import edge, edges, numbers, shard_id

_TRIES = 10
KEPT = ("StreamStatus", "RetentionPeriodHours", "EncryptionType", "OpenShardCount")


@scene
def creation(service: Service) -> Answers:
    """CreateStream: uniform ranges to the last key; a name that is taken."""
    answers: Answers = {
        f"edges of {count}": [edges(shard) for shard in service.shards(service.stream(count))]
        for count in (1, 2, 3, 4, 5)
    }
    name = service.stream(1)
    answers["taken"] = code_of(service.boto.create_stream, StreamName=name, ShardCount=1)
    answers["a name of odd signs"] = code_of(
        service.boto.create_stream, StreamName="odd/name", ShardCount=1
    )
    return answers


@scene
def creating(service: Service) -> Answers:
    """While the stream is CREATING; asked again if it was over before all was asked."""
    boto = service.boto
    for _ in range(_TRIES):
        name = service.created(2)
        words = {"ShardToSplit": shard_id(0), "NewStartingHashKey": edge(QUARTER)}
        answers = {
            "summary": service.summary(name)["StreamStatus"],
            "described": numbers(
                boto.describe_stream(StreamName=name)["StreamDescription"]["Shards"]
            ),
            "listed": answer_of(partial(_listed, service, name)),
            "iterator": code_of(service.iterator, stream=name, shard=0, kind="LATEST"),
            "put": code_of(boto.put_record, StreamName=name, Data=b"x", PartitionKey="k"),
            "split": code_of(boto.split_shard, StreamName=name, **words),
        }
        if service.status(name) == "CREATING":
            service.settle(name)
            return answers
        service.settle(name)
    raise AssertionError("a stream is ACTIVE before six questions are asked")


def _listed(service: Service, stream: str) -> list[int]:
    return numbers(service.shards(stream))


@scene
def summary(service: Service) -> Answers:
    """DescribeStreamSummary and DescribeStream; by name and by ARN."""
    name = service.stream(3)
    boto, arn = service.boto, service.summary(name)["StreamARN"]
    first = {member: service.summary(name)[member] for member in KEPT}
    service.split(name, 0, Fraction(1, 6))
    second = {member: service.summary(name)[member] for member in KEPT}
    elsewhere = arn.replace("123456789012", "210987654321")

    def described(**words: Any) -> tuple[list[int], bool]:
        found = boto.describe_stream(**words)["StreamDescription"]
        return numbers(found["Shards"]), found["HasMoreShards"]

    return {
        "at first": first,
        "after a split": second,
        "mode": service.summary(name)["StreamModeDetails"]["StreamMode"],
        "consumers": service.summary(name)["ConsumerCount"],
        "arn": arn.replace(name, "NAME"),
        "by arn": answer_of(
            lambda: boto.describe_stream_summary(StreamARN=arn)["StreamDescriptionSummary"][
                "StreamName"
            ]
        ) == name,
        "listed by arn": answer_of(lambda: numbers(boto.list_shards(StreamARN=arn)["Shards"])),
        "iterator by arn": code_of(
            boto.get_shard_iterator, StreamARN=arn, ShardId=shard_id(1), ShardIteratorType="LATEST"
        ),
        "listed by an arn of another account": code_of(boto.list_shards, StreamARN=elsewhere),
        "described": described(StreamName=name),
        "described, two": described(StreamName=name, Limit=2),
        "described from a start": described(StreamName=name, ExclusiveStartShardId=shard_id(1)),
        "no such stream": code_of(boto.describe_stream_summary, StreamName="nowhere"),
        "no such stream described": code_of(boto.describe_stream, StreamName="nowhere"),
    }  # fmt: skip


@scene
def retention(service: Service) -> Answers:
    """IncreaseStreamRetentionPeriod and DecreaseStreamRetentionPeriod: 24 to 8760 hours."""
    name = service.stream(1)
    boto = service.boto

    def change(call: Callable[..., object], hours: int, stream: str = name) -> tuple[str, object]:
        code = code_of(call, StreamName=stream, RetentionPeriodHours=hours)
        service.settle(name)
        return code, service.summary(name)["RetentionPeriodHours"]

    increase = boto.increase_stream_retention_period
    decrease = boto.decrease_stream_retention_period
    return {
        "to 48": change(increase, 48),
        "to 48 again": change(increase, 48),
        "increased to less": change(increase, 36),
        "decreased to more": change(decrease, 72),
        "decreased to 36": change(decrease, 36),
        "decreased to 23": change(decrease, 23),
        "increased to a year": change(increase, 8760),
        "increased to more than a year": change(increase, 8761),
        "no such stream": change(increase, 48, "nowhere"),
    }


@scene
def deletion(service: Service) -> Answers:
    """DeleteStream; the name then belongs to nobody."""
    name = service.stream(1)
    boto = service.boto
    iterator = service.iterator(name, 0, "TRIM_HORIZON")
    boto.delete_stream(StreamName=name)
    answers: Answers = {"listed meanwhile": code_of(boto.list_shards, StreamName=name)}
    service.vanish(name)
    answers["summary"] = code_of(boto.describe_stream_summary, StreamName=name)
    answers["listed"] = code_of(boto.list_shards, StreamName=name)
    answers["put"] = code_of(boto.put_record, StreamName=name, Data=b"x", PartitionKey="k")
    answers["read"] = code_of(boto.get_records, ShardIterator=iterator)
    answers["deleted again"] = code_of(boto.delete_stream, StreamName=name)
    early = service.created(1)
    answers["deleted while CREATING"] = code_of(boto.delete_stream, StreamName=early)
    described = boto.describe_stream(StreamName=early)["StreamDescription"]
    answers["shards then"] = numbers(described["Shards"])
    return answers


@scene
def recreation(service: Service) -> Answers:
    """A stream deleted and made again under its name: ids begin anew, numbers do not."""
    name = service.stream(2)
    service.split(name, 0, QUARTER)
    (put,) = service.put(name, Fraction(3, 4), "old")
    start = service.shards(name)[1]["SequenceNumberRange"]["StartingSequenceNumber"]
    service.boto.delete_stream(StreamName=name)
    service.vanish(name)
    service.elapse()
    service.boto.create_stream(StreamName=name, ShardCount=2)
    service.settle(name)
    starts = [
        int(shard["SequenceNumberRange"]["StartingSequenceNumber"])
        for shard in service.shards(name)
    ]

    def code(kind: str, number: str) -> str:
        words = {"shard": 1, "kind": kind, "StartingSequenceNumber": number}
        return code_of(service.iterator, stream=name, **words)

    return {
        "ids": numbers(service.shards(name)),
        "numbers go on": all(number > int(put["SequenceNumber"]) for number in starts),
        "at the old record": code("AT_SEQUENCE_NUMBER", put["SequenceNumber"]),
        "after the old record": code("AFTER_SEQUENCE_NUMBER", put["SequenceNumber"]),
        "at the old start": code("AT_SEQUENCE_NUMBER", start),
        "records": [record["Data"] for answer in service.read(name, 1)
                    for record in answer["Records"]],
    }  # fmt: skip
