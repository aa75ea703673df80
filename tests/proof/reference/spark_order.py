"""The order in which the connectors write the keys of an offset: that of Scala's mutable.HashMap.

Both connectors fill a map with "metadata" and then the shard ids in ascending order, and json4s
writes a map as it iterates. Written from the libraries' descriptions and sources (scala-library
2.12.18 HashTable, 2.13.17 HashMap); every line in tests/golden/spark has this order.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

WORD = 2**32
MIXER = 0x9E3775CD
OLD_SEED = 4
OLD_SIZE = 16


def java_hash(text: str) -> int:
    """String.hashCode, as an unsigned number of 32 bits."""
    found = 0
    for unit in memoryview(text.encode("utf-16-le")).cast("H"):
        found = (31 * found + unit) % WORD
    return found


def ordered(keys: Iterable[str], scala: str, born: int = 0) -> list[str]:
    """The keys as a map iterates that got them in this order.

    ``scala`` is 2.12 or 2.13; ``born`` is how many of them the map was made with (2.13 sizes its
    table by that).
    """
    return _ordered_2_12(keys) if scala == "2.12" else _ordered_2_13(keys, born)


def _ordered_2_12(keys: Iterable[str]) -> list[str]:
    table: list[list[str]] = [[] for _ in range(OLD_SIZE)]
    for count, key in enumerate(keys, 1):
        table[_bucket_2_12(key, len(table))].insert(0, key)
        if count > len(table) * 3 // 4:
            grown: list[list[str]] = [[] for _ in range(2 * len(table))]
            for old in chain.from_iterable(reversed(table)):
                grown[_bucket_2_12(old, len(grown))].insert(0, old)
            table = grown
    return list(chain.from_iterable(reversed(table)))


def _bucket_2_12(key: str, size: int) -> int:
    mixed = java_hash(key) * MIXER % WORD
    mixed = int.from_bytes(mixed.to_bytes(4, "little"), "big") * MIXER % WORD
    turned = (mixed >> OLD_SEED | mixed << 32 - OLD_SEED) % WORD
    return turned >> 32 - (size.bit_length() - 1)


def _ordered_2_13(keys: Iterable[str], born: int) -> list[str]:
    size = 8 if born else 16
    held: list[tuple[int, int, str]] = []
    for place, key in enumerate(keys):
        if len(held) + 1 >= size * 3 // 4:
            size *= 2
        mixed = java_hash(key)
        mixed ^= mixed >> 16
        held.append((mixed - WORD if mixed >= WORD // 2 else mixed, place, key))
    return [key for _, _, key in sorted(held, key=lambda one: (one[0] & size - 1, one[0], one[1]))]
