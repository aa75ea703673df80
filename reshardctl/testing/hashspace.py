"""The space of hash keys: [0, 2**128), cut into inclusive ranges."""

from __future__ import annotations

import hashlib
from fractions import Fraction

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
