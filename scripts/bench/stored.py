"""What each consumer stores of a stream that it read: rows as its library writes them.

The row of one open shard in a hundred was lost, or holds another shard's number where a library
begins a shard without a row at its start. A library that never deletes a row has one for each
closed shard too, at its end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.spark.planned_batch import LINES
from reshardctl.consumers.spark.positions import AFTER_SEQUENCE_NUMBER, Position
from reshardctl.model import Image, ShardId, canonical, shard_id

STREAM = "bench"
CREATED = 1795219200
APP, INDEX, SOURCE = "app", "index", "kinesis"


def number(shard: int, index: int, second: int) -> str:
    """A version-2 sequence number whose epoch is its own second."""
    return str(
        2 << 184 | second << 148 | (shard & 15) << 144 | index << 80 | second << 36
        | shard << 4 | 2
    )


@dataclass(frozen=True, slots=True)
class Read:
    """A shard that was read. closed: Unix seconds, `None` while it is open."""

    index: int
    low: int
    high: int
    parents: tuple[int, ...]
    opened: int
    closed: int | None
    swapped: bool = False

    @property
    def shard(self) -> ShardId:
        """Its id."""
        return shard_id(self.index)

    @property
    def position(self) -> str:
        """The number of the record that was read last; swapped: one of the next shard's."""
        second = self.opened + 5 if self.closed is None else self.closed - 5
        return number(self.index + self.swapped, 3, second)


def rows(consumer: str, shards: Iterable[Read]) -> list[Image]:
    """The rows of a consumer of `CONSUMED`."""
    consumed = CONSUMED[consumer]
    return list(consumed.rows(_damaged(shards, consumed.swapped)))


def _damaged(shards: Iterable[Read], swapped: bool) -> Iterator[Read]:
    chance = Random(1)  # noqa: S311
    for read in shards:
        if read.closed is not None or chance.random() >= 0.01:
            yield read
        elif swapped:
            yield replace(read, swapped=True)


def _kcl(shards: Iterable[Read]) -> Iterator[Image]:
    """Leases of open shards: those of closed ones are deleted."""
    for read in shards:
        if read.closed is None:
            yield _lease(read)


def _lease(read: Read) -> Image:
    item: dict[str, Any] = {
        "leaseKey": {"S": read.shard},
        "checkpoint": {"S": read.position},
        "checkpointSubSequenceNumber": {"N": "0"},
        "leaseCounter": {"N": "5"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "startingHashKey": {"S": str(read.low)},
        "endingHashKey": {"S": str(read.high)},
    }
    if read.parents:
        item["parentShardId"] = {"SS": [shard_id(parent) for parent in read.parents]}
    return Image(read.shard, canonical(item))


def _kinsumer(shards: Iterable[Read]) -> Iterator[Image]:
    """A checkpoint for every shard, and the ShardCache."""
    cached = []
    for read in shards:
        if read.closed is None:
            cached.append({"S": read.shard})
        stamp = (read.opened + 5 if read.closed is None else read.closed + 1) * 10**9
        ended = {"NULL": True} if read.closed is None else {"N": str(stamp)}
        yield Image(f"checkpoints/{read.shard}", {
            "Shard": {"S": read.shard},
            "SequenceNumber": {"S": read.position},
            "LastUpdate": {"N": str(stamp)},
            "LastUpdateRFC": {"S": ""},
            "Finished": ended,
            "FinishedRFC": {"S": ""} if read.closed is not None else {"NULL": True},
        })  # fmt: skip
    stamps = {"LastUpdate": {"N": str(CREATED * 10**9)}, "LastUpdateRFC": {"S": ""}}
    yield Image(
        "metadata/ShardCache", {"Key": {"S": "ShardCache"}, "ShardIDs": {"L": cached}, **stamps}
    )


def _kinesis_consumer(shards: Iterable[Read]) -> Iterator[Image]:
    """A number for every shard; nothing marks an end."""
    for read in shards:
        yield _numbered(read, read.position)


def _telegraf(shards: Iterable[Read]) -> Iterator[Image]:
    """A number for every shard; that of a closed one is its EndingSequenceNumber."""
    for read in shards:
        end = None if read.closed is None else number(read.index, LAST_INDEX, read.closed)
        yield _numbered(read, end or read.position)


def _numbered(read: Read, position: str) -> Image:
    return Image(f"{APP}-{STREAM}/{read.shard}", {
        "namespace": {"S": f"{APP}-{STREAM}"},
        "shard_id": {"S": read.shard},
        "sequence_number": {"S": position},
    })  # fmt: skip


def _quickwit(shards: Iterable[Read]) -> Iterator[Image]:
    """The source, and a position of every shard."""
    key = f"{INDEX}/{SOURCE}"
    yield Image(key, {
        "backfill": {"BOOL": False}, "checkpoint": {"S": "present"}, "enabled": {"BOOL": True},
        "index_uid": {"S": f"{INDEX}:01K05GZNBV00A99DEN3CZV1HKE"}, "region": {"S": "us-east-1"},
        "stream": {"S": STREAM}, "version": {"S": "0.9"},
    })  # fmt: skip
    for read in shards:
        yield Image(f"{key}/{read.shard}", {"position": {"S": read.position}})


def _spark(shards: Iterable[Read]) -> Iterator[Image]:
    """A query with Qubole's connector: one committed batch, and its log of what it read."""
    held = [read for read in shards if read.closed is None]
    starts = {read.shard: Position("TRIM_HORIZON") for read in held}
    yield from _query(LINES["qubole"](STREAM, 0, starts, "2.12"))
    yield Image("sources/0/shard-commit/0/", {})
    for read in held:
        entry = {
            "shardId": read.shard, "iteratorType": AFTER_SEQUENCE_NUMBER,
            "iteratorPosition": read.position,
        }  # fmt: skip
        text = json.dumps(entry, separators=(",", ":"))
        yield _file(f"sources/0/shard-commit/0/{read.shard}", text)


def _kinesis_lineage(shards: Iterable[Read]) -> Iterator[Image]:
    """A query with this package's source: one committed batch, with a mark of every shard."""
    marks = {read.shard: {"seq": read.position, "end": read.closed is not None} for read in shards}
    offset = {"shards": marks, "stream": STREAM, "created": CREATED + 3, "retention": 86400}
    yield from _query(json.dumps(offset))


def _query(line: str) -> Iterator[Image]:
    head = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1795219200000,"conf":{}}\n'
    yield _file("commits/0", 'v1\n{"nextBatchWatermarkMs":0}')
    yield _file("metadata", '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}')
    yield _file("offsets/0", head + line)


def _file(key: str, text: str) -> Image:
    return Image(key, {"text": {"S": text}, "size": {"N": str(len(text))}})


LAST_INDEX = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Consumed:
    """One library at one release.

    options: those that leave nothing open. swapped: a bad row holds another shard's number, and is
    not lost.
    """

    library: str
    options: Mapping[str, str]
    rows: Callable[[Iterable[Read]], Iterator[Image]]
    medium: str = ""
    swapped: bool = False

    def consumer(self) -> Consumer:
        """The consumer of these options."""
        return CONSUMERS[self.library].for_options(self.options, self.medium)


CONSUMED = {
    "kcl": Consumed("kcl", {"initial": "LATEST", "release": "3.5"}, _kcl),
    "kinsumer": Consumed(
        "kinsumer", {"initial": "TRIM_HORIZON", "release": "snowplow-1.7"}, _kinsumer,
        swapped=True,
    ),
    "kinesis-consumer": Consumed(
        "kinesis-consumer", {"app": APP, "initial": "LATEST", "release": "0.5"},
        _kinesis_consumer, "dynamodb",
    ),
    "kinesis-consumer-master": Consumed(
        "kinesis-consumer", {"app": APP, "initial": "TRIM_HORIZON", "release": "master"},
        _kinesis_consumer, "dynamodb",
    ),
    "telegraf": Consumed(
        "kinesis-consumer", {"app": APP, "initial": "LATEST", "release": "telegraf-1.39"},
        _telegraf, "dynamodb",
    ),
    "quickwit": Consumed("quickwit", {"release": "0.9"}, _quickwit, swapped=True),
    "spark": Consumed(
        "spark", {
            "release": "qubole-1.2.0_spark-3.0", "startingPosition": "TRIM_HORIZON",
            "failOnDataLoss": "true",
        }, _spark,
    ),
    "kinesis-lineage": Consumed(
        "spark", {
            "release": "kinesis-lineage", "startingPosition": "TRIM_HORIZON",
            "failOnDataLoss": "true", "sink": "other",
        }, _kinesis_lineage, swapped=True,
    ),
}  # fmt: skip
