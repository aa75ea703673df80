"""The same questions to two services: small scripts whose answers can be compared.

A scene makes streams of its own and returns its answers by name. What may differ between two good
services (numbers, times, texts of errors) is left out or brought to a common form.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from tests.interop.kinesis_local.service import Service, code_of
from tests.interop.kinesis_local.shapes import (
    Raw,
    edge,
    edges,
    is_open,
    lineage,
    number_of,
    numbers,
    parents,
    shard_id,
    span,
)

Answers = dict[str, Any]
SCENES: dict[str, Callable[[Service], Answers]] = {}

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)
LATER = datetime(2100, 1, 1, tzinfo=UTC)


def scene(build: Callable[[Service], Answers]) -> Callable[[Service], Answers]:
    """Takes a script in under its name."""
    SCENES[build.__name__] = build
    return build


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


@scene
def reading(service: Service) -> Answers:
    """GetRecords up to the end of a split and of a merged shard, and to an open one's tip."""
    name = service.stream(2)
    service.put(name, Fraction(0), "a", "b", "c")
    service.put(name, HALF, "d", "e", "f")
    service.split(name, 0, QUARTER)
    service.merge(name, 3, 1)
    closed, both, tip = service.read(name, 0), service.read(name, 1), service.read(name, 4)
    latest = service.read(name, 0, "LATEST")
    return {
        "records of 0": _payloads(closed),
        "records of 1": _payloads(both),
        "end of 0": _end(closed),
        "end of 1": {kind: sorted(of) if kind == "parents" else of
                     for kind, of in _end(both).items()},
        "order of the parents": _end(both)["parents"],
        "end comes with": len(closed[-1]["Records"]),
        "end at LATEST": (_payloads(latest), _end(latest)),
        "children before the end": any("ChildShards" in answer for answer in closed[:-1]),
        "tip": (_payloads(tip), "ChildShards" in tip[-1], bool(tip[-1].get("NextShardIterator"))),
        "behind at the end": closed[-1]["MillisBehindLatest"],
    }  # fmt: skip


def _payloads(answers: list[Raw]) -> list[str]:
    return [record["Data"].decode() for answer in answers for record in answer["Records"]]


def _end(answers: list[Raw]) -> Raw:
    """What the last answer says of the shard's children."""
    last = answers[-1]
    children = last.get("ChildShards", [])
    return {
        "iterator": last.get("NextShardIterator"),
        "children": [(number_of(child["ShardId"]), span(child)) for child in children],
        "parents": [number_of(one) for child in children for one in child["ParentShards"]],
    }


@scene
def iterators(service: Service) -> Answers:
    """GetShardIterator: what is accepted, and by which error it is refused."""
    name = service.stream(2)
    first, second, _ = service.put(name, Fraction(0), "a", "b", "c")
    (foreign,) = service.put(name, HALF, "d")
    service.split(name, 0, QUARTER)
    shards = service.shards(name)
    bounds = shards[0]["SequenceNumberRange"]

    def payloads(kind: str, number: str) -> list[str]:
        return _payloads(service.read(name, 0, kind, StartingSequenceNumber=number))

    def code(kind: str, shard: int = 0, stream: str = name, **more: Any) -> str:
        return code_of(service.iterator, stream=stream, shard=shard, kind=kind, **more)

    def after(number: str) -> str:
        return code("AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=number)

    return {
        "at a record": payloads("AT_SEQUENCE_NUMBER", second["SequenceNumber"]),
        "after a record": payloads("AFTER_SEQUENCE_NUMBER", first["SequenceNumber"]),
        "at the start": payloads("AT_SEQUENCE_NUMBER", bounds["StartingSequenceNumber"]),
        "after the start": payloads("AFTER_SEQUENCE_NUMBER", bounds["StartingSequenceNumber"]),
        "after the end": after(bounds["EndingSequenceNumber"]),
        "at the end": code("AT_SEQUENCE_NUMBER",
                           StartingSequenceNumber=bounds["EndingSequenceNumber"]),
        "after another shard's": after(foreign["SequenceNumber"]),
        "after nonsense": after("0"),
        "no number": code("AT_SEQUENCE_NUMBER"),
        "no time": code("AT_TIMESTAMP"),
        "a time to come": code("AT_TIMESTAMP", Timestamp=LATER),
        "no such type": code("SOME_OTHER"),
        "no such shard": code("LATEST", shard=99),
        "no such stream": code("LATEST", stream="nowhere"),
        "no iterator": code_of(service.boto.get_records, ShardIterator="nonsense"),
    }  # fmt: skip


@scene
def sequence_numbers(service: Service) -> Answers:
    """Which shard the numbers name (bits 4 to 35), and how they lie to each other."""
    name = service.stream(2)
    puts = [*service.put(name, Fraction(0), "a", "b"), *service.put(name, HALF, "c")]
    service.split(name, 0, QUARTER)
    service.merge(name, 3, 1)
    found = {number_of(shard["ShardId"]): shard for shard in service.shards(name)}
    start = {n: int(s["SequenceNumberRange"]["StartingSequenceNumber"]) for n, s in found.items()}
    ends = {n: int(s["SequenceNumberRange"]["EndingSequenceNumber"])
            for n, s in found.items() if not is_open(s)}  # fmt: skip
    written = [(number_of(put["ShardId"]), int(put["SequenceNumber"])) for put in puts]
    return {
        "digits of a start": {len(str(number)) for number in start.values()},
        "starts of roots name": [_shard(start[n]) for n in (0, 1)],
        "starts after a split name": [_shard(start[n]) for n in (2, 3)],
        "start after a merge names": _shard(start[4]),
        "ends name": {n: _shard(number) for n, number in ends.items()},
        "records name their shard": all(_shard(number) == n for n, number in written),
        "records follow their start": all(number > start[n] for n, number in written),
        "records precede their end": all(number < ends[n] for n, number in written),
        "records ascend": written[0][1] < written[1][1],
        "child of a split starts behind": all(start[n] > max(of for s, of in written if s == 0)
                                              for n in (2, 3)),
        "parents": {n: parents(shard) for n, shard in found.items()},
    }  # fmt: skip


def _shard(number: int) -> int:
    return number >> 4 & 0xFFFFFFFF


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
