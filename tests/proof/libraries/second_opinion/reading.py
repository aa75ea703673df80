"""Scenes of GetRecords and PutRecord: what a shard gives back, and how it ends."""

from __future__ import annotations

from fractions import Fraction

from tests.proof.libraries.second_opinion.scene import HALF, QUARTER, Answers, scene
from tests.proof.libraries.second_opinion.service import Service, code_of
from tests.proof.libraries.second_opinion.shapes import SPACE, Raw, number_of, span


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
        "records of 0": payloads(closed),
        "records of 1": payloads(both),
        "end of 0": _end(closed),
        "end of 1": {kind: sorted(of) if kind == "parents" else of
                     for kind, of in _end(both).items()},
        "order of the parents": _end(both)["parents"],
        "end comes with": len(closed[-1]["Records"]),
        "end at LATEST": (payloads(latest), _end(latest)),
        "children before the end": any("ChildShards" in answer for answer in closed[:-1]),
        "tip": (payloads(tip), "ChildShards" in tip[-1], bool(tip[-1].get("NextShardIterator"))),
        "behind at the end": closed[-1]["MillisBehindLatest"] > 0,
    }  # fmt: skip


@scene
def batches(service: Service) -> Answers:
    """GetRecords with Limit, how far behind it says to be, and what a record has."""
    name = service.stream(1)
    latest = service.iterator(name, 0, "LATEST")
    service.put(name, Fraction(0), "a", "b")
    service.elapse()
    service.put(name, HALF, "c")
    get = service.boto.get_records
    first = get(ShardIterator=service.iterator(name, 0, "TRIM_HORIZON"), Limit=1)
    second = get(ShardIterator=first["NextShardIterator"], Limit=2)
    third = get(ShardIterator=second["NextShardIterator"])
    again = get(ShardIterator=first["NextShardIterator"])
    return {
        "sizes": [len(answer["Records"]) for answer in (first, second, third)],
        "behind before the last": first["MillisBehindLatest"] > 0,
        "behind after the last": second["MillisBehindLatest"],
        "behind at the tip": third["MillisBehindLatest"],
        "an iterator can be used again": payloads([again]),
        "since LATEST": payloads([get(ShardIterator=latest)]),
        "members": sorted(first["Records"][0]),
        "arrivals do not fall": [r["ApproximateArrivalTimestamp"] for r in again["Records"]]
        == sorted(r["ApproximateArrivalTimestamp"] for r in again["Records"]),
        "too many": code_of(get, ShardIterator=latest, Limit=10001),
        "nonsense": code_of(get, ShardIterator="nonsense"),
    }


@scene
def writing(service: Service) -> Answers:
    """PutRecord and PutRecords where they are refused."""
    name = service.stream(1)
    put, many = service.boto.put_record, service.boto.put_records
    record = {"Data": b"x", "PartitionKey": "k"}
    return {
        "no such stream": code_of(put, StreamName="nowhere", **record),
        "no such stream, many": code_of(many, StreamName="nowhere", Records=[record]),
        "a key beyond all": code_of(put, StreamName=name, ExplicitHashKey=str(SPACE), **record),
        "a key of letters": code_of(put, StreamName=name, ExplicitHashKey="key", **record),
        "the last key": code_of(put, StreamName=name, ExplicitHashKey=str(SPACE - 1), **record),
        "501 records": code_of(many, StreamName=name, Records=[record] * 501),
    }


def payloads(answers: list[Raw]) -> list[str]:
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
