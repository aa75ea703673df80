"""Limits on reading records: calls and seconds in total, reads per second and bytes per shard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

PACE = 0.5
"""Seconds between two reads of a shard: a shard allows five reads per second, shared by all
consumers (GetRecords API reference)."""
BYTES_A_SECOND = 1_000_000
"""Half of the 2 MB per second that a shard gives to all its readers (GetRecords API reference)."""
PAGE_BYTES = 1_000_000
"""Largest page to ask for: after one of 10 MB the shard refuses reads for five seconds (GetRecords
API reference)."""
FIRST_PAGE = 10
"""Records asked for while their size is unknown."""
LONGEST_PAGE = 10_000
USUAL_CALLS = 1000
USUAL_SECONDS = 120.0
"""The least that one look may take, if nothing else is asked for."""
CALLS_A_SHARD = 22
"""More than the reads and iterators of a probe of one shard (`probe.PROBED_READS`)."""
SECONDS_A_SHARD = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on all reads of one look: GetRecords and GetShardIterator calls, and seconds.

    `None` follows the number of shards that are read.
    """

    calls: int | None = None
    seconds: float | None = None

    def of(self, shards: int) -> Allowance:
        """The limits for a look at so many shards."""
        calls = max(USUAL_CALLS, CALLS_A_SHARD * shards) if self.calls is None else self.calls
        seconds = (
            max(USUAL_SECONDS, SECONDS_A_SHARD * shards) if self.seconds is None else self.seconds
        )
        return Allowance(shards, calls, seconds)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one look may take. shards: how many are read."""

    shards: int
    calls: int
    seconds: float


class Budget:
    """What is left of the limits, from its creation on."""

    def __init__(self, allowed: Allowance, clock: Callable[[], float]) -> None:
        self._calls = allowed.calls
        self._end = clock() + allowed.seconds
        self._clock = clock
        self.spent = 0

    def left(self) -> bool:
        """Whether one more call may be made."""
        return self.spent < self._calls and self._clock() < self._end

    def spend(self) -> None:
        """Counts one call."""
        self.spent += 1


class Pace:
    """When each shard may be read again, and how many records to ask for."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._free: dict[str, float] = {}
        self._sizes: dict[str, int] = {}

    def free_at(self, shard: str) -> float:
        """The time from which the shard may be read; in the past if it may be read now."""
        return self._free.get(shard, 0.0)

    def limit(self, shard: str) -> int:
        """How many records fill a page, from the largest average size seen."""
        size = self._sizes.get(shard)
        return FIRST_PAGE if size is None else max(1, min(LONGEST_PAGE, PAGE_BYTES // size))

    def read(self, shard: str, records: int, size: int) -> None:
        """Counts a read of so many records and bytes."""
        self._free[shard] = self._clock() + max(PACE, size / BYTES_A_SECOND)
        if records:
            self._sizes[shard] = max(1, size // records, self._sizes.get(shard, 0))
