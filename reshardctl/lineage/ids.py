"""Shard ids as numbers if they have AWS's form, and as texts if they do not.

Kinesis writes `shardId-` and twelve digits and counts up, so that a million ids are a few runs of
numbers. DynamoDB Streams and emulators write other forms: those keep their texts.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import ge

from reshardctl.lineage.digits import BCD_OR_ABSENT, pack
from reshardctl.model import ShardId, shard_id

LIMIT = 10**8
"""Ids from this number on keep their texts.

A stream of ten thousand shards that is halved and doubled every day gets there in eighteen years.
"""
NO_NUMBER = 166_666_665
"""The number that `numbers_of` gives a missing id, from eight f: no eight digits give it."""
_PREFIX = " shardId-0000"
_NOBODY = "shardId-0000ffffffff"


def numbers_of(ids: Sequence[str]) -> array[int] | None:
    """The numbers in `shardId-%012d` ids, NO_NUMBER for "", `None` if one has another form."""
    full = ids if all(ids) else [shard or _NOBODY for shard in ids]
    text = " " + " ".join(full)
    if len(text) != 21 * len(ids):
        return None
    # The lengths before and after prove that each id began with the prefix.
    packed = pack(text.replace(_PREFIX, " ")[1:], len(ids), 8)
    if packed is None or packed.translate(None, BCD_OR_ABSENT):
        return None
    return _from_bcd(packed)


def _from_bcd(packed: bytes) -> array[int]:
    """Converts four bytes (eight digits) per number, all numbers of a page at once.

    One long integer holds them side by side; each step joins neighbouring lanes of digits into
    lanes twice as wide (16 a + b becomes 10 a + b, then 256 a + b becomes 100 a + b, ...).
    """
    lanes = int.from_bytes(packed, "big")
    tens, hundreds, myriads = _masks(len(packed) // 4)
    lanes -= (16 - 10) * (lanes >> 4 & tens)
    lanes -= (256 - 10**2) * (lanes >> 8 & hundreds)
    lanes -= (256**2 - 10**4) * (lanes >> 16 & myriads)
    numbers = array("I", lanes.to_bytes(len(packed), sys.byteorder))
    if sys.byteorder == "little":
        numbers.reverse()
    return numbers


@lru_cache(maxsize=8)
def _masks(count: int) -> tuple[int, ...]:
    lanes = "0f0f0f0f", "00ff00ff", "0000ffff"
    return tuple(int.from_bytes(bytes.fromhex(lane) * count, "big") for lane in lanes)


class Runs:
    """Ascending shard numbers below LIMIT as runs without gaps; row k is the k-th of them."""

    def __init__(self) -> None:
        self._firsts: array[int] = array("I")
        self._rows: array[int] = array("I")
        self._count = 0
        self._next = 0

    def __len__(self) -> int:
        return self._count

    def extend(self, numbers: array[int]) -> bool:
        """Appends the numbers and returns True; if they are not ascending, appends none."""
        low, high, count = numbers[0], numbers[-1], len(numbers)
        if low < self._next or max(numbers) >= LIMIT:
            return False
        if high - low + 1 == count and numbers == array("I", range(low, high + 1)):
            self._run(low, count)
            return True
        if any(map(ge, numbers[:-1], numbers[1:])):
            return False
        for number in numbers:
            self._run(number, 1)
        return True

    def _run(self, first: int, count: int) -> None:
        if first != self._next or not self._firsts:
            self._firsts.append(first)
            self._rows.append(self._count)
        self._count += count
        self._next = first + count

    def row_of(self, number: int) -> int:
        """The row of a number, or -1."""
        run = bisect_right(self._firsts, number) - 1
        if run < 0:
            return -1
        row = self._rows[run] + number - self._firsts[run]
        end = self._rows[run + 1] if run + 1 < len(self._rows) else self._count
        return row if row < end else -1

    def rows_of(self, numbers: Sequence[int]) -> list[int]:
        """The row of each number, or -1: `row_of` for many."""
        if len(self._firsts) != 1:
            return list(map(self.row_of, numbers))
        first, end = self._firsts[0], self._next
        return [number - first if first <= number < end else -1 for number in numbers]

    def number(self, row: int) -> int:
        """The number in this row."""
        run = bisect_right(self._rows, row) - 1
        return int(self._firsts[run] + row - self._rows[run])

    def name(self, row: int) -> ShardId:
        """The id in this row."""
        return shard_id(self.number(row))

    def names(self) -> Iterator[ShardId]:
        """All ids, in order."""
        ends = [*self._rows, self._count][1:]
        for first, start, end in zip(self._firsts, self._rows, ends, strict=True):
            yield from map(shard_id, range(first, first + end - start))

    def exact(self) -> bytes:
        """All numbers as bytes, for comparison."""
        return repr((self._firsts, self._rows, self._count)).encode()

    def row(self, shard: str) -> int:
        """The row of this id, or -1."""
        return self.row_of(index) if (index := number_in(shard)) is not None else -1


class Texts:
    """Ids of any form, by row."""

    def __init__(self, ids: list[str]) -> None:
        self._ids = ids
        self._rows = {shard: row for row, shard in enumerate(ids)}

    def __len__(self) -> int:
        return len(self._ids)

    def name(self, row: int) -> ShardId:
        """The id in this row."""
        return ShardId(self._ids[row])

    def names(self) -> Iterator[ShardId]:
        """All ids, in order."""
        return map(ShardId, self._ids)

    def exact(self) -> bytes:
        """All ids as bytes, for comparison."""
        return repr(self._ids).encode()

    def row(self, shard: str) -> int:
        """The row of this id, or -1."""
        return self._rows.get(shard, -1)


def number_in(shard: str) -> int | None:
    """The number in an id of exactly AWS's form, `None` for any other."""
    digits = shard[8:]
    if len(shard) == 20 and shard.startswith("shardId-") and digits.isascii() and digits.isdigit():
        return int(digits)
    return None
