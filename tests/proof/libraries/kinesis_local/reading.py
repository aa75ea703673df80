"""Scenes of records, iterators and sequence numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.proof.libraries.kinesis_local.scene import HALF, LATER, QUARTER, Answers, scene
from tests.proof.libraries.kinesis_local.service import Service, code_of
from tests.proof.libraries.kinesis_local.shapes import Raw, is_open, number_of, parents, span


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
