"""The order in which Scala 2.13 iterates over the keys of a `mutable.HashMap`.

Why that matters: see order_scala_2_12. Rule: HashMap.scala of scala-library 2.13.18; checked
against that library itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.consumers.spark.lines.java_hash import java_hash

BORN_EMPTY, BORN_SMALL = 16, 8
"""First table of `new HashMap` and of `HashMap(…)` with one or two entries (HashMap.from)."""


def order(keys: Sequence[str], born: int) -> list[str]:
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
