"""What bounded reads of a shard have shown."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.model.cuts import Cut
from reshardctl.model.shards import ShardId


@dataclass(frozen=True, slots=True)
class Probe:
    """A bounded GetRecords walk of one shard, from a cut on.

    since: where it began. drained: the end of the shard (or its tip, if open) was reached and no
    record was met. first_arrival, last_arrival: Unix seconds of the first and the last record
    met. first: the first one's number. count: records met; more: whether the bound was reached
    before the end.
    """

    since: Cut
    drained: bool
    first_arrival: float | None = None
    first: str | None = None
    count: int = 0
    more: bool = False
    last_arrival: float | None = None

    @property
    def silent(self) -> bool:
        """Whether it showed nothing: neither a record nor the end."""
        return not self.drained and not self.count


@dataclass(frozen=True, slots=True)
class Interval:
    """The records of one shard behind `since` and up to `until`, itself included."""

    shard: ShardId
    since: Cut
    until: Cut


@dataclass(frozen=True, slots=True)
class Count:
    """Records of an interval. at_least: the bound was reached before its end.

    first_arrival, last_arrival: Unix seconds, `None` where no record was met.
    """

    records: int
    at_least: bool = False
    first_arrival: float | None = None
    last_arrival: float | None = None


@dataclass(frozen=True, slots=True)
class PositionAtTime:
    """Where a shard stood at a time: the cut just before the first record that arrived since.

    first_arrival: that record's, Unix seconds; `None` where there is none. early: the bound was
    reached on the way, so that the cut lies before the one asked for: it skips less.
    nothing_after: the shard is closed and nothing in it arrived at or after that time.
    """

    at: Cut
    first_arrival: float | None = None
    early: bool = False
    nothing_after: bool = False
