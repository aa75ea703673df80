"""Scenes of GetShardIterator, and of the sequence numbers that it takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from tests.proof.libraries.second_opinion.reading import payloads
from tests.proof.libraries.second_opinion.scene import HALF, LATER, QUARTER, Answers, scene
from tests.proof.libraries.second_opinion.service import Service, answer_of, code_of
from tests.proof.libraries.second_opinion.shapes import is_open, number_of, parents


@scene
def iterators(service: Service) -> Answers:
    """GetShardIterator by number: what is accepted, and by which error it is refused."""
    name = service.stream(2)
    first, second, _ = service.put(name, Fraction(0), "a", "b", "c")
    (foreign,) = service.put(name, HALF, "d")
    service.split(name, 0, QUARTER)
    bounds = service.shards(name)[0]["SequenceNumberRange"]
    service.elapse()  # numbers do not tell streams apart that were made in the same second
    other = service.stream(2)
    (strange,) = service.put(other, Fraction(0), "e")

    def read(kind: str, number: str) -> list[str] | str:
        return answer_of(
            lambda: payloads(service.read(name, 0, kind, StartingSequenceNumber=number))
        )

    def code(kind: str, shard: int = 0, stream: str = name, **more: Any) -> str:
        return code_of(service.iterator, stream=stream, shard=shard, kind=kind, **more)

    def both(number: str) -> tuple[str, str]:
        at = code("AT_SEQUENCE_NUMBER", StartingSequenceNumber=number)
        return at, code("AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=number)

    return {
        "at a record": read("AT_SEQUENCE_NUMBER", second["SequenceNumber"]),
        "after a record": read("AFTER_SEQUENCE_NUMBER", first["SequenceNumber"]),
        "at the start": read("AT_SEQUENCE_NUMBER", bounds["StartingSequenceNumber"]),
        "after the start": read("AFTER_SEQUENCE_NUMBER", bounds["StartingSequenceNumber"]),
        "at, after the end": both(bounds["EndingSequenceNumber"]),
        "at, after another shard's": both(foreign["SequenceNumber"]),
        "at, after another stream's": both(strange["SequenceNumber"]),
        "at, after nonsense": both("0"),
        "at, after an odd number": both("1" * 56),
        "no digits": code("AT_SEQUENCE_NUMBER", StartingSequenceNumber="SHARD_END"),
        "no number": code("AT_SEQUENCE_NUMBER"),
        "a number for LATEST": code("LATEST", StartingSequenceNumber=first["SequenceNumber"]),
        "a number for TRIM_HORIZON": code(
            "TRIM_HORIZON", StartingSequenceNumber=first["SequenceNumber"]
        ),
        "no such type": code("SOME_OTHER"),
        "no such shard": code("LATEST", shard=99),
        "no such shard at a number": code(
            "AT_SEQUENCE_NUMBER", shard=99, StartingSequenceNumber=first["SequenceNumber"]
        ),
        "no such stream": code("LATEST", stream="nowhere"),
    }


@scene
def times(service: Service) -> Answers:
    """GetShardIterator AT_TIMESTAMP, on an open shard and on a closed one."""
    name = service.stream(2)
    created = service.summary(name)["StreamCreationTimestamp"]
    service.put(name, Fraction(0), "a")
    service.put(name, HALF, "b")
    between = datetime.fromtimestamp(service.elapse(), UTC)
    service.put(name, Fraction(0), "c")
    service.put(name, HALF, "d")
    behind = datetime.fromtimestamp(service.elapse(), UTC)
    service.split(name, 0, QUARTER)

    def read(when: datetime, shard: int = 1) -> list[str] | str:
        return answer_of(
            lambda: payloads(service.read(name, shard, "AT_TIMESTAMP", Timestamp=when))
        )

    arrived = service.read(name, 1)[0]["Records"][1]["ApproximateArrivalTimestamp"]
    return {
        "before all": read(created - timedelta(days=2)),
        "between": read(between),
        "at a record": read(arrived),
        "behind all": read(behind),
        "between, closed": read(between, 0),
        "behind all, closed": read(behind, 0),
        "a time to come": read(LATER),
        "no time": code_of(service.iterator, stream=name, shard=0, kind="AT_TIMESTAMP"),
    }


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
    created = int(service.summary(name)["StreamCreationTimestamp"].timestamp())
    return {
        "digits of a start": {len(str(number)) for number in start.values()},
        "starts of roots name": [_shard(start[n]) for n in (0, 1)],
        "starts after a split name": [_shard(start[n]) for n in (2, 3)],
        "start after a merge names": _shard(start[4]),
        "ends name": {n: _shard(number) for n, number in ends.items()},
        "ends have the index": {hex(_index(number)) for number in ends.values()},
        "starts have the index": {_index(number) for number in start.values()},
        "roots precede the creation by three": all(
            _second(start[n]) == created - 3 for n in (0, 1)
        ),
        "children follow a second later": all(
            _second(start[n]) == _second(ends[0]) + 1 for n in (2, 3)
        ),
        "epoch is the time in starts": all(_epoch(s) == _second(s) for s in start.values()),
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


def _index(number: int) -> int:
    return number >> 80 & 2**64 - 1


def _second(number: int) -> int:
    return number >> 36 & 2**36 - 1


def _epoch(number: int) -> int:
    return number >> 148 & 2**36 - 1
