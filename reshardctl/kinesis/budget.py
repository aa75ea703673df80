"""Limits on reading records: calls and seconds in total, reads per second and bytes per shard.

Beside them stands what a walk along a shard keeps of the records that it reads, and what a look at
many shards tells while it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from reshardctl.kinesis.aggregated import user_records
from reshardctl.model import START, Cut, Rank, at_number

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


class Limits(Struct, frozen=True):
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


class Allowance(Struct, frozen=True):
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

    def left(self) -> int:
        """How many calls may still be made, 0 when the time is over."""
        return self._calls if self._clock() < self._end else 0

    def spend(self, calls: int) -> None:
        """Counts so many calls."""
        self._calls -= calls


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


NO_LIMIT = 1 << 62


class Met(Struct, frozen=True):
    """One record that a walk has read. arrival: Unix seconds."""

    number: str
    arrival: float | None
    size_bytes: int = 0
    """Its data, not as base64, and its partition key: what Kinesis counts as the record's size."""


Beyond = Callable[[Met], bool]


def never(_record: Met) -> bool:
    """Says of every record that it is not beyond: the walk goes to the end."""
    return False


class Tally:
    """Counts records up to the first one that lies beyond, or to a limit."""

    def __init__(
        self, since: Cut = START, beyond: Beyond = never, limit: int = NO_LIMIT
    ) -> None:
        self._since, self._beyond, self._limit = since, beyond, limit
        self.reached: Cut | None = None
        """The cut after the last record that was read, processed or not."""
        self.count = 0
        self.size_bytes = 0
        self.first: Met | None = None
        self.last: Met | None = None
        self.after: Met | None = None
        """The first record beyond, if one was read."""

    @property
    def wanted(self) -> int:
        """How many more records are of interest."""
        return self._limit - self.count

    @property
    def full(self) -> bool:
        """Whether nothing more has to be read."""
        return self.after is not None or self.count >= self._limit

    def take(self, records: list[dict[str, Any]]) -> None:
        """Counts the records of a page."""
        for record in records:
            met = _met(record)
            if self._beyond(met):
                self.after = met
                return
            self.reached = at_number(met.number)
            if self._is_processed(record):
                continue
            self.first = self.first or met
            self.last = met
            self.count += 1
            self.size_bytes += met.size_bytes
            if self.full:
                return

    def _is_processed(self, record: Mapping[str, Any]) -> bool:
        """Whether it is the record of the cut, with all of its user records processed."""
        since = self._since
        if since.rank is not Rank.INSIDE or since.by_time:
            return False
        if int(record["SequenceNumber"]) != since.number:
            return False
        return user_records(record["Data"]) <= since.sub + 1


def _met(record: Mapping[str, Any]) -> Met:
    arrived = record.get("ApproximateArrivalTimestamp")
    size = len(record["Data"]) + len(record["PartitionKey"].encode())
    return Met(record["SequenceNumber"], None if arrived is None else arrived.timestamp(), size)


class Look(Struct, frozen=True):
    """Two functions to tell.

    begin: called with what the look may take, before the first read. read: called with the number
    of shards that are done, of those that are read.
    """

    begin: Callable[[Allowance], None]
    read: Callable[[int, int], None]


UNSEEN = Look(lambda _allowed: None, lambda _done, _shards: None)
