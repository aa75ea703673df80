"""How many user records one Kinesis record holds.

The Kinesis Producer Library packs several into one: four bytes of its own, a protobuf message,
and that message's MD5 (amazon-kinesis-producer, aggregation-format.md). A stored sub-sequence
number counts them from 0.
"""

from __future__ import annotations

from hashlib import md5

_MAGIC = b"\xf3\x89\x9a\xc2"
_DIGEST = 16
_RECORDS = 3
"""Field number of `repeated Record records` in the message AggregatedRecord."""
_VARINT, _LENGTH = 0, 2


def user_records(data: bytes) -> int:
    """1 for a record that is not aggregated, or not rightly: consumers take it as it is."""
    if not data.startswith(_MAGIC) or len(data) < len(_MAGIC) + _DIGEST:
        return 1
    message = data[len(_MAGIC) : -_DIGEST]
    if md5(message, usedforsecurity=False).digest() != data[-_DIGEST:]:
        return 1
    try:
        return max(1, _fields(message).count(_RECORDS))
    except (IndexError, ValueError):
        return 1


def _fields(message: bytes) -> list[int]:
    """Field numbers of a message, in their order. ValueError or IndexError for nonsense."""
    found, at = [], 0
    while at < len(message):
        key, at = _varint(message, at)
        value, at = _varint(message, at)
        if key & 7 == _LENGTH:
            at += value
        elif key & 7 != _VARINT:
            raise ValueError("a wire type that this message has not")
        found.append(key >> 3)
    if at > len(message):
        raise ValueError("cut off")
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
