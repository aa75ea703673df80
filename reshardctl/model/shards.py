"""Shards of a stream, as ListShards and DescribeStreamSummary give them, and sequence numbers.

A number is an integer to compare and a text to write; its layout is evidence only. AWS does not
document the layout. The one below held for all of 77 public numbers from 2014 to 2026, and AWS
itself enforces the shard part ("It encodes shardId-…, while it was used in a call to a shard with
shardId-…"). A number that cannot be decoded is unknown, never wrong. An operator names several
shards as `4,5`, `4-9`, or by full ids.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from math import inf
from typing import NewType

from msgspec import Struct

from reshardctl.errors import UsageError

ShardId = NewType("ShardId", str)

HASH_SPACE = 1 << 128
"""Number of hash keys; ranges are inclusive at both ends, from 0 to HASH_SPACE - 1."""

_NUMBER = re.compile(r"\d{1,12}\Z", re.ASCII)
_PLAIN = re.compile(r"shardId-\d{12}\Z", re.ASCII)
_INDEXED = re.compile(r"shardId-(\d{12,120})\Z", re.ASCII)


def shard_id(index: int) -> ShardId:
    """`shardId-` and twelve digits, AWS's form for every stream."""
    return ShardId(f"shardId-{index:012d}")


def shard_named(text: str) -> ShardId:
    """A shard by its number or its id, as an operator types it."""
    return shard_id(int(text)) if _NUMBER.match(text) else ShardId(text)


def index_of(shard: str) -> int | None:
    """The number in a shard id, or `None` if the id has another form."""
    match = _INDEXED.match(shard)
    return int(match[1]) if match else None


def in_birth_order(shards: Iterable[ShardId]) -> list[ShardId]:
    """The shards, parents before children: ids grow with creation."""
    ids = list(shards)
    if all(map(_PLAIN.match, ids)):
        return sorted(ids)  # with equally many digits, text is ordered as numbers are
    return sorted(ids, key=lambda s: (-1 if (i := index_of(s)) is None else i, s))


def short(shard: str) -> str:
    """The significant digits of a shard id, for people."""
    index = index_of(shard)
    return shard if index is None else str(index)


class Shard(Struct, frozen=True):
    """One shard as listed. `start` and `end` are sequence numbers as AWS spells them."""

    id: ShardId
    parent: ShardId | None
    adjacent: ShardId | None
    hash_start: int
    hash_end: int
    start: str
    end: str | None

    @property
    def open(self) -> bool:
        """Whether the shard has no EndingSequenceNumber (ListShards API reference)."""
        return self.end is None

    @property
    def parents(self) -> tuple[ShardId, ...]:
        """The parents that the listing names, listed or not: none, one (split) or two (merge)."""
        return tuple(p for p in (self.parent, self.adjacent) if p is not None)


class Stream(Struct, frozen=True):
    """A stream as DescribeStreamSummary gives it. `created`: Unix seconds. `retention`: seconds.

    as_of: Unix seconds of the look; no record is younger. `inf` if unknown.
    """

    arn: str
    name: str
    created: float
    retention: int
    status: str
    mode: str = "PROVISIONED"
    open_shards: int = 0
    as_of: float = inf

    @property
    def account(self) -> str:
        """The twelve-digit account, from the ARN."""
        return self.arn.split(":")[4]

    @property
    def region(self) -> str:
        """The region, from the ARN."""
        return self.arn.split(":")[3]


_DIGITS = re.compile(r"0|([1-9]\d{0,128})", re.ASCII)
"""What Kinesis accepts as a sequence number (StartingSequenceNumber, API reference)."""
_BITS = 186
_LAST_INDEX = (1 << 63) - 1


class Decoded(Struct, frozen=True):
    """The fields of a sequence number.

    shard: index of the shard. epoch, time: Unix seconds, UTC; the record arrived 0.3 to 2.5 s after
    `time`, and `epoch` is only a lower bound of `time`. index: counter inside the epoch, `None` if
    the version has none.
    """

    shard: int
    epoch: int
    time: int
    index: int | None

    @property
    def is_end(self) -> bool:
        """Whether this is the EndingSequenceNumber of a closed shard, which no record has."""
        return self.index == _LAST_INDEX


def is_number(text: str) -> bool:
    """Whether Kinesis accepts the text as a number: no leading zero, no blank, no line break."""
    return _DIGITS.fullmatch(text) is not None


def decode(number: int | str) -> Decoded | None:
    """The fields of a number, or `None` if it does not have the shape of a Kinesis number."""
    fields = _fields(number)
    return None if fields is None else Decoded(*fields)


def time_of(number: int | str) -> int | None:
    """The Unix second encoded in a number, or `None`."""
    fields = _fields(number)
    return None if fields is None else fields[2]


def _fields(number: int | str) -> tuple[int, int, int, int | None] | None:
    """The fields of `Decoded`."""
    if isinstance(number, str):
        if not is_number(number):
            return None
        number = int(number)
    if number.bit_length() != _BITS or number >> 184 != 2:
        return None
    version, shard = number & 0xF, number >> 4 & 0xFFFFFFFF
    epoch = number >> 148 & 0xFFFFFFFFF
    if version == 2:
        time, index = number >> 36 & 0xFFFFFFFFF, number >> 80 & (1 << 64) - 1
        spare = number >> 72 & 0xFF
    elif version == 1:
        time, index = number >> 100 & 0xFFFFFFFFF, None
        spare = number >> 136 & 0xFF
    else:
        return None
    if spare or number >> 144 & 0xF != shard & 0xF or epoch > time:
        return None
    return shard, epoch, time, index


_ID = re.compile(r"shardId-[0-9a-zA-Z-]+\Z", re.ASCII)
_RANGE = re.compile(r"(\d{1,12})[-–](\d{1,12})\Z", re.ASCII)
"""With the hyphen that is typed, and with the dash that is printed."""
TAKES = "numbers, ranges and ids, joined by commas, as in 4,5 or 4-9 or shardId-000000000004"


def names_shards(text: str) -> bool:
    """Whether a text has the form of shards that an operator names, rather than that of a file."""
    return all(
        not part or _NUMBER.match(part) or _RANGE.match(part) or _ID.match(part)
        for part in map(str.strip, text.split(","))
    )


def parts_of(texts: Iterable[str], option: str = "--shards") -> tuple[str, ...]:
    """The comma-separated parts of texts, each once. UsageError for one that names no shard."""
    parts: list[str] = []
    for text in texts:
        for part in text.split(","):
            bounds = _RANGE.match(part.strip())
            if not part.strip() or (bounds and int(bounds[1]) > int(bounds[2])):
                raise UsageError(f"{option} {text}: {part!r} names no shard", f"it takes {TAKES}")
            parts.append(part.strip())
    return tuple(dict.fromkeys(parts))


def shards_in(part: str, known: Collection[ShardId]) -> list[ShardId]:
    """The known shards that one part names, by number; none for an unknown shard."""
    if bounds := _RANGE.match(part):
        low, high = int(bounds[1]), int(bounds[2])
        numbers = {s: i for s in known if (i := index_of(s)) is not None and low <= i <= high}
        return sorted(numbers, key=lambda shard: numbers[shard])
    shard = shard_named(part)
    return [shard] if shard in known else []


def select(parts: Iterable[str], known: Collection[ShardId]) -> tuple[list[ShardId], list[str]]:
    """The known shards that parts name, each once and in order, and the parts that name none."""
    shards: dict[ShardId, None] = {}
    unknown: list[str] = []
    for part in parts:
        named = shards_in(part, known)
        shards |= dict.fromkeys(named)
        if not named:
            unknown.append(part)
    return list(shards), unknown
