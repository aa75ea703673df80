"""What a walk along a shard keeps of the records that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reshardctl.kinesis.aggregated import user_records
from reshardctl.model import START, Cut, Rank, at_number

NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class Met:
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
