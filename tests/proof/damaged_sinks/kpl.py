"""Aggregated records as the Kinesis Producer Library writes them (aggregation-format.md of
awslabs/amazon-kinesis-producer): magic, a protobuf message AggregatedRecord, its MD5."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5

_MAGIC = b"\xf3\x89\x9a\xc2"
_KEY_TABLE, _RECORDS = 1, 3
_KEY_INDEX, _DATA = 1, 3


def aggregate(records: Sequence[tuple[str, bytes]]) -> bytes:
    """One Kinesis record's data that holds these (partition key, data) in their order."""
    table = list(dict.fromkeys(key for key, _ in records))
    message = b"".join(_field(_KEY_TABLE, key.encode()) for key in table)
    for key, data in records:
        index = bytes([_KEY_INDEX << 3]) + _varint(table.index(key))
        message += _field(_RECORDS, index + _field(_DATA, data))
    return _MAGIC + message + md5(message, usedforsecurity=False).digest()


def _field(number: int, body: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
