"""Hadoop's `.crc` siblings."""

from __future__ import annotations

import pytest

from reshardctl.consumers.spark.files import checksum, holds
from tests.support.checkpoint_files import GOLDEN

SIBLINGS = sorted(path for path in GOLDEN.rglob(".*.crc") if path.is_file())


def test_every_recorded_sibling_is_what_we_would_write():
    """Written by Hadoop under Spark 3.3.4 to 4.3.0 and by the connectors."""
    assert len(SIBLINGS) == 477
    for path in SIBLINGS:
        content = (path.parent / path.name[1:-4]).read_bytes()
        assert checksum(content) == path.read_bytes(), path
        assert holds(content, path.read_bytes()), path


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 1024, 5000])
def test_one_sum_for_every_chunk(size):
    """An empty file has the eight bytes of the head alone (seen beside one of Spark's)."""
    crc = checksum(bytes(size))
    assert crc[:8] == b"crc\0\0\0\2\0"
    assert len(crc) == 8 + 4 * -(-size // 512)
    assert holds(bytes(size), crc)


def test_chunks_of_another_size_are_understood():
    """file.bytes-per-checksum can be set."""
    assert holds(b"x" * 700, checksum(b"x" * 700, 100))


@pytest.mark.parametrize(
    "crc",
    [b"", b"crc", b"crc\0\0\0\0\0", b"crc\0\xff\xff\xff\xff", b"xyz\0\0\0\2\0", b"crc\0\0\0\2\0"],
)
def test_what_is_no_checksum_of_it_does_not_hold(crc):
    assert not holds(b"text", crc)
    assert not holds(b"text", checksum(b"texT"))
