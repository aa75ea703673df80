"""Shards of a fake stream: their records, hash keys, sequence numbers, and reshards as steps.

The space of hash keys, [0, 2**128), is cut into inclusive ranges. Sequence numbers are as Kinesis
writes them (layout v2, in use since about 2015).

A number is a 186 bit integer, printed as 56 decimal digits::

    bits 184-185  0b10, the prefix
    bits 148-183  epoch, UTC seconds: a lower bound for everything that carries it
    bits 144-147  shard & 0xF
    bits  80-143  index: 0 for the start, counting up, 2**63 - 1 for the end
    bits  72-79   0
    bits  36-71   time, UTC seconds
    bits   4-35   shard
    bits   0-3    2, the version

Checked against 77 public numbers in tests/golden/sequence_numbers.json. This decoder is written
apart from the one in the core, so that neither can hide a mistake of the other.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from operator import attrgetter

from msgspec import Struct, field

SPACE = 2**128


def boundaries(count: int) -> list[int]:
    """The `count` + 1 edges of `count` equal ranges, floor(i * 2**128 / count).

    The listing in the AWS CLI reference (list-shards, a stream of three shards) has these edges.
    """
    return [i * SPACE // count for i in range(count + 1)]


def edge(share: str | int | float) -> int:
    """A place in the space given as a fraction ("1/3", "0.25", 0.5, 1), as a hash key."""
    fraction = Fraction(str(share))
    if not 0 <= fraction <= 1:
        raise ValueError(f"not a fraction of the hash space: {share!r}")
    return fraction.numerator * SPACE // fraction.denominator


def key_hash(partition_key: str) -> int:
    """The hash key of a partition key: its MD5, big endian (PutRecord API reference)."""
    digest = hashlib.md5(partition_key.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest, "big")


class Split(Struct, frozen=True):
    """Close `parent`; the upper of its two children starts at hash key `at`."""

    parent: int
    at: int


class Merge(Struct, frozen=True):
    """Close both; `parent` becomes ParentShardId and `adjacent` AdjacentParentShardId."""

    parent: int
    adjacent: int


Step = Split | Merge


class Piece(Struct, frozen=True):
    """An open shard as the planner sees it; `low` and `high` are inclusive hash keys."""

    number: int
    low: int
    high: int


def uniform_steps(pieces: Sequence[Piece], target: int, free: int) -> list[Step]:
    """The steps from the open shards to `target` equal ones, new shards numbered from `free`.

    Walks the hash space upwards: cut the shard that crosses the next edge, then merge what lies
    below it, so that shards of a few seconds appear in between. 4 -> 3 gives exactly the recorded
    answer of AWS (risingwave#9961): split 1, merge 0+4, split 2, merge 5+7, merge 8+3.
    """
    waiting = sorted(pieces, key=lambda piece: piece.low, reverse=True)
    steps: list[Step] = []
    for edge in boundaries(target)[1:]:
        below: Piece | None = None
        while waiting and waiting[-1].low < edge:
            piece = waiting.pop()
            if piece.high >= edge:
                steps.append(Split(piece.number, edge))
                waiting.append(Piece(free + 1, edge, piece.high))
                piece = Piece(free, piece.low, edge - 1)
                free += 2
            if below is not None:
                steps.append(Merge(below.number, piece.number))
                piece = Piece(free, below.low, piece.high)
                free += 1
            below = piece
    return steps


def doubling_steps(pieces: Sequence[Piece]) -> list[Step]:
    """Split every open shard in half, as on-demand streams grow."""
    ordered = sorted(pieces, key=lambda piece: piece.low)
    return [Split(piece.number, (piece.low + piece.high + 1) // 2) for piece in ordered]


END_INDEX = 2**63 - 1
"""Index of every EndingSequenceNumber; no record has it."""

_PREFIX = 2
_VERSION = 2
_SECONDS = 2**36


class SequenceNumberError(ValueError):
    """The text is not a number of layout v2."""


class SequenceNumber(Struct, frozen=True):
    """One decoded number. `epoch` and `time` are UTC seconds."""

    epoch: int
    index: int
    time: int
    shard: int

    def __int__(self) -> int:
        return (
            _PREFIX << 184
            | self.epoch << 148
            | (self.shard & 0xF) << 144
            | self.index << 80
            | self.time << 36
            | self.shard << 4
            | _VERSION
        )

    def __str__(self) -> str:
        return str(int(self))

    @property
    def is_end(self) -> bool:
        """Whether it is an EndingSequenceNumber, as a closed shard shows."""
        return self.index == END_INDEX


def start(shard: int, second: int) -> SequenceNumber:
    """The StartingSequenceNumber of a shard that is created in `second`."""
    return SequenceNumber(epoch=second, index=0, time=second, shard=shard)


def end(shard: int, epoch: int, second: int) -> SequenceNumber:
    """The EndingSequenceNumber of a shard that is closed in `second`."""
    return SequenceNumber(epoch=epoch, index=END_INDEX, time=second, shard=shard)


def parse(text: str) -> SequenceNumber:
    """Decode `text`; raises SequenceNumberError unless every fixed bit is right."""
    if not (text.isascii() and text.isdigit()) or len(text) > 60:
        raise SequenceNumberError(text)
    number = int(text)
    decoded = SequenceNumber(
        epoch=number >> 148 & _SECONDS - 1,
        index=number >> 80 & 2**64 - 1,
        time=number >> 36 & _SECONDS - 1,
        shard=number >> 4 & 2**32 - 1,
    )
    if int(decoded) != number or decoded.index > END_INDEX:
        raise SequenceNumberError(text)
    return decoded


_number = attrgetter("number")


def shard_id(number: int) -> str:
    """The name of the shard with this index."""
    return f"shardId-{number:012d}"


class Record(Struct, frozen=True):
    """One record. `number` is its sequence number, `arrival` epoch seconds."""

    number: int
    payload: bytes
    key: str
    arrival: float


class Shard(Struct):
    """A shard and its records, oldest first.

    `opened` and `closed` are epoch seconds; `born` and `ended` the stream's generations of the same
    moments: a listing "as of" a generation shows what had happened until then.
    """

    number: int
    low: int
    high: int
    """First and last hash key, both inclusive."""
    parents: tuple[int, ...]
    epoch: int
    """The epoch of the next record's number; see `move_epoch`."""
    opened: float
    born: int = 0
    closed: float | None = None
    ended: int | None = None
    withdrawn: bool = False
    """Neither listed nor readable any more, whatever its age."""
    records: list[Record] = field(default_factory=list)
    index: int = 0
    """Number of records ever put, trimmed ones included."""
    starting: int = 0
    ending: int | None = None
    epochs: tuple[int, ...] = ()
    """All epochs in its numbers, oldest first."""
    last: int = 0
    """The number of the newest record, or the start's."""
    reads: tuple[float, ...] = ()
    """Times of the last GetRecords calls, for the read limit."""

    def __post_init__(self) -> None:
        self.starting = int(start(self.number, self.epoch))
        self.last = self.starting
        self.epochs = (self.epoch,)

    @property
    def id(self) -> str:
        """The shard id, `shardId-000000000007`."""
        return shard_id(self.number)

    @property
    def tip(self) -> int:
        """The greatest number so far, the start's and the end's included."""
        return self.last if self.ending is None else self.ending

    def put(self, payload: bytes, key: str, now: float, arrival: float) -> Record:
        """Append a record that is written in the second of `now`."""
        self.index += 1
        second = max(int(now), self.epoch)
        number = SequenceNumber(self.epoch, self.index, second, self.number)
        record = Record(int(number), payload, key, arrival)
        self.records.append(record)
        self.last = record.number
        return record

    def close(self, now: float, generation: int) -> int:
        """End the shard; returns the second that its EndingSequenceNumber carries."""
        second = max(int(now), self.epoch)
        self.closed = now
        self.ended = generation
        self.ending = int(end(self.number, self.epoch, second))
        return second

    def move_epoch(self, second: int) -> None:
        """Give later numbers this epoch, as AWS does when a shard is moved.

        Seen in two public streams (PUT-Firehose-aEhWz 2022, a Japanese walk-through of 2017).
        """
        if second <= self.epoch:
            raise ValueError("an epoch only grows")
        self.epoch = second
        self.epochs += (second,)

    def trim(self, horizon: float) -> None:
        """Drop the oldest records that arrived before `horizon`."""
        gone = 0
        for record in self.records:
            if record.arrival >= horizon:
                break
            gone += 1
        if gone:
            del self.records[:gone]

    def since(self, number: int) -> int:
        """The index in `records` of the first record at or after `number`."""
        return bisect_left(self.records, number, key=_number)
