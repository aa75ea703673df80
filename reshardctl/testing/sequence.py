"""Sequence numbers as Kinesis writes them (layout v2, in use since about 2015).

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

from dataclasses import dataclass

END_INDEX = 2**63 - 1
"""Index of every EndingSequenceNumber; no record has it."""

_PREFIX = 2
_VERSION = 2
_SECONDS = 2**36


class SequenceNumberError(ValueError):
    """The text is not a number of layout v2."""


@dataclass(frozen=True, slots=True, order=False)
class SequenceNumber:
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
