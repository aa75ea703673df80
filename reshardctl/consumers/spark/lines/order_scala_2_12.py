"""The order in which Scala 2.12 iterates over the keys of a `mutable.HashMap`.

The connectors fill such a map and write it as JSON, and Spark compares offsets by their text, so
the lines that we write need the same order. Rule: HashTable.scala and HashMap.scala of
scala-library 2.12.18; checked against that library itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.consumers.spark.lines.java_hash import WORD, java_hash

_TABLE = 16
_MIX = 0x9E3775CD
_SEED = 4
"""HashTable.tableSizeSeed: the one-bits of the first table's size less one; growing keeps it."""


def order(keys: Iterable[str]) -> list[str]:
    """The keys in the map's order; `keys` is in the order of insertion."""
    size = _TABLE
    buckets: list[list[tuple[int, str]]] = [[] for _ in range(size)]
    for count, key in enumerate(keys, start=1):
        mixed = _improved(java_hash(key))
        buckets[_bucket(mixed, size)].append((mixed, key))
        if count > size * 3 // 4:
            size *= 2
            buckets = _grown(buckets, size)
    return [key for bucket in reversed(buckets) for _, key in reversed(bucket)]


def _grown(old: list[list[tuple[int, str]]], size: int) -> list[list[tuple[int, str]]]:
    """The buckets after growing.

    A chain's head is its list's end: the last inserted key comes first. The chain is walked from
    there, so growing reverses it; the topmost bits choose the bucket, so no two chains meet.
    """
    buckets: list[list[tuple[int, str]]] = [[] for _ in range(size)]
    for bucket in old:
        for entry in reversed(bucket):
            buckets[_bucket(entry[0], size)].append(entry)
    return buckets


def _improved(code: int) -> int:
    """HashTable.improve: scala.util.hashing.byteswap32, then rotated."""
    swapped = int.from_bytes((code * _MIX & WORD).to_bytes(4, "little"), "big")
    mixed = swapped * _MIX & WORD
    return (mixed >> _SEED | mixed << (32 - _SEED)) & WORD


def _bucket(mixed: int, size: int) -> int:
    """The bucket, by the topmost bits."""
    return mixed >> (33 - size.bit_length())
