"""Results of bounded reads of shards."""

from __future__ import annotations

from dataclasses import dataclass, field

from reshardctl.model.cuts import Cut
from reshardctl.model.shards import ShardId


@dataclass(frozen=True, slots=True)
class Probe:
    """A bounded GetRecords walk of one shard, from a cut on.

    since: where it began. drained: the end of the shard (its tip, if open) was reached without a
    record. first_arrival, last_arrival: Unix seconds of the first and the last record read. first:
    the sequence number of the first one. count: records read. more: whether the limit was reached
    before the end. size_bytes: of the records read, `None` where a saved probe does not say.
    """

    since: Cut
    drained: bool
    first_arrival: float | None = None
    first: str | None = None
    count: int = 0
    more: bool = False
    last_arrival: float | None = None
    size_bytes: int | None = field(default=None, compare=False)

    @property
    def silent(self) -> bool:
        """Whether the probe read neither a record nor the end."""
        return not self.drained and not self.count


@dataclass(frozen=True, slots=True)
class Interval:
    """The records of one shard after `since` and up to and including `until`."""

    shard: ShardId
    since: Cut
    until: Cut


@dataclass(frozen=True, slots=True)
class Count:
    """Number of records in an interval. at_least: the limit was reached before the interval's end.

    first_arrival, last_arrival: Unix seconds, `None` if there was no record. size_bytes: their data
    and partition keys together, `None` if not known.
    """

    records: int
    at_least: bool = False
    first_arrival: float | None = None
    last_arrival: float | None = None
    size_bytes: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PositionAtTime:
    """The cut just before the first record of a shard that arrived at or after a time.

    first_arrival: of that record, Unix seconds; `None` if there is none. early: the limit was
    reached first, so the cut is earlier than asked for and skips less. nothing_after: the shard is
    closed and no record arrived at or after that time.
    """

    at: Cut
    first_arrival: float | None = None
    early: bool = False
    nothing_after: bool = False
