"""Hadoop's checksum files: `.<name>.crc` beside every file that it writes on a local disk.

`crc` and a zero byte, the chunk's size, one CRC-32 for each chunk, all big-endian
(ChecksumFileSystem; equal to every sibling that Spark 3.3.4 to 4.3.0 and the connectors wrote in
runs of November 2026). Spark's default checkpoint reader does not verify them.
"""

from __future__ import annotations

import struct
import zlib

CHUNK = 512
"""file.bytes-per-checksum as Hadoop ships it."""

_MAGIC = b"crc\0"
_HEAD = len(_MAGIC) + 4


def checksum(content: bytes, chunk: int = CHUNK) -> bytes:
    """The bytes of a content's checksum file."""
    sums = (zlib.crc32(content[at : at + chunk]) for at in range(0, len(content), chunk))
    return _MAGIC + struct.pack(">i", chunk) + b"".join(struct.pack(">I", crc) for crc in sums)


def holds(content: bytes, crc: bytes) -> bool:
    """Whether a checksum file belongs to this content, whatever chunk size the file names."""
    if len(crc) < _HEAD or crc[: len(_MAGIC)] != _MAGIC:
        return False
    (chunk,) = struct.unpack(">i", crc[len(_MAGIC) : _HEAD])
    return chunk > 0 and crc == checksum(content, chunk)
