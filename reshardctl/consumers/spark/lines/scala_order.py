"""The order in which Scala 2.12 and 2.13 iterate over the keys of a `mutable.HashMap`.

The connectors fill such a map and write it as JSON, and Spark compares offsets by their text, so
the lines that we write need the same order. Rules: HashTable.scala and HashMap.scala of
scala-library 2.12.18, HashMap.scala of 2.13.18; both checked against that library itself. Keys are
hashed by `String.hashCode` of Java.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

WORD = 0xFFFFFFFF


@lru_cache(maxsize=1 << 15)
def java_hash(text: str) -> int:
    """Returns an unsigned word of 32 bits. text: no character outside the basic plane."""
    code = 0
    for character in text:
        code = code * 31 + ord(character) & WORD
    return code


_TABLE = 16
_MIX = 0x9E3775CD
_SEED = 4
"""HashTable.tableSizeSeed: the one-bits of the first table's size less one; growing keeps it."""


def order_2_12(keys: Iterable[str]) -> list[str]:
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


BORN_EMPTY, BORN_SMALL = 16, 8
"""First table of `new HashMap` and of `HashMap(…)` with one or two entries (HashMap.from)."""


def order_2_13(keys: Sequence[str], born: int) -> list[str]:
    """The keys in the map's order. born: size of its first table, BORN_EMPTY or BORN_SMALL.

    Growing keeps a chain's order, and a chain is sorted by its signed hash, so the order of
    insertion decides only between keys of one hash.
    """
    mask = _size(len(keys), born) - 1
    mixed = [(_mixed(java_hash(key)), key) for key in keys]
    mixed.sort(key=lambda entry: (entry[0] & mask, _signed(entry[0])))
    return [key for _, key in mixed]


def _size(count: int, size: int) -> int:
    """The table's size; it grows before the entry that would fill three quarters (HashMap.put0)."""
    while count >= size * 3 // 4:
        size *= 2
    return size


def _mixed(code: int) -> int:
    """HashMap.improveHash: the high half folded into the low one."""
    return code ^ code >> 16


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word
