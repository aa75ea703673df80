"""The user records that one Kinesis record holds.

The Kinesis Producer Library packs several into one: four bytes of its own, a protobuf message, and
that message's MD5 (amazon-kinesis-producer, aggregation-format.md). A stored sub-sequence number
counts them from 0. A record that is not a valid aggregate counts as one record, as in KCL (3.5.1,
AggregatorUtil); so does an aggregate that is empty or names a key that is in no table.

message AggregatedRecord {
  repeated string partition_key_table = 1;
  repeated string explicit_hash_key_table = 2;
  repeated Record records = 3;
}
message Record {
  required uint64 partition_key_index = 1;
  optional uint64 explicit_hash_key_index = 2;
  required bytes data = 3;
  repeated Tag tags = 4;
}
"""

from __future__ import annotations

from hashlib import md5

MAGIC = b"\xf3\x89\x9a\xc2"
_DIGEST = 16
_KEYS, _RECORDS = 1, 3
_KEY_INDEX, _DATA = 1, 3
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5


def user_records(data: bytes) -> int:
    """The number of user records; 1 for a record that is no valid aggregate."""
    records = unpacked(data)
    return 1 if records is None else len(records)


def unpacked(data: bytes) -> list[tuple[str, bytes]] | None:
    """Partition key and data of each user record; `None` if the record is no valid aggregate."""
    if not data.startswith(MAGIC) or len(data) <= len(MAGIC) + _DIGEST:
        return None
    message = data[len(MAGIC) : -_DIGEST]
    if md5(message, usedforsecurity=False).digest() != data[-_DIGEST:]:
        return None
    try:
        return _records(message) or None
    except (IndexError, ValueError):
        return None


def _records(message: bytes) -> list[tuple[str, bytes]]:
    """The user records of a message. ValueError or IndexError if it is malformed."""
    keys, records, at, end = [], [], 0, len(message)
    while at < end:
        tag, at = _varint(message, at)
        start, at = _skip(message, at, tag & 7)
        if tag == _KEYS << 3 | _LENGTH:
            keys.append(message[start:at].decode("utf-8", "replace"))
        elif tag == _RECORDS << 3 | _LENGTH:
            records.append(_record(message, start, at))
    if at > end:
        raise ValueError("cut off")
    return [(keys[index], body) for index, body in records]


def _record(message: bytes, at: int, end: int) -> tuple[int, bytes]:
    index, body = -1, None
    while at < end:
        tag, at = _varint(message, at)
        start, at = _skip(message, at, tag & 7)
        if tag == _KEY_INDEX << 3 | _VARINT:
            index = _varint(message, start)[0]
        elif tag == _DATA << 3 | _LENGTH:
            body = message[start:at]
    if index < 0 or body is None or at > end:
        raise ValueError("a required field is missing")
    return index, body


def _skip(message: bytes, at: int, wire_type: int) -> tuple[int, int]:
    """Where a field's value begins, and where it ends."""
    if wire_type == _LENGTH:
        size, at = _varint(message, at)
        return at, at + size
    if wire_type == _VARINT:
        return at, _varint(message, at)[1]
    if wire_type == _EIGHT_BYTES:
        return at, at + 8
    if wire_type == _FOUR_BYTES:
        return at, at + 4
    raise ValueError("a wire type that this message has not")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    byte = message[at]
    if byte < 0x80:
        return byte, at + 1
    value, shift = 0, 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
