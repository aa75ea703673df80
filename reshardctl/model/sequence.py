"""Sequence numbers: integers to compare, the original text to write, layout only as evidence.

AWS does not document the layout. The one below held for all of 77 public numbers from 2014 to 2026,
and AWS itself enforces the shard part ("It encodes shardId-…, while it was used in a call to a
shard with shardId-…"). A number that cannot be decoded is unknown, never wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"0|([1-9]\d{0,128})", re.ASCII)
"""What Kinesis accepts as a sequence number (StartingSequenceNumber, API reference)."""
_BITS = 186
_LAST_INDEX = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Decoded:
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
    return _NUMBER.fullmatch(text) is not None


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
