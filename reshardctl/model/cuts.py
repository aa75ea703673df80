"""Cuts, spans and frontiers: how far a consumer has read a shard, and how sure that is.

`START < (sequence number, sub) < TIP < DONE`; `AT(time)` is ordered among the numbers by the time
encoded in them. All records up to a cut are processed, the cut's own record included.

A probe is a bounded read of a shard, and what it found is told in cuts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from msgspec import Struct

from reshardctl.model.shards import ShardId, time_of

ARRIVAL_SLACK = 3
"""Seconds by which a record's arrival may lie after the time in its number (0.3–2.5 seen)."""
PARTS = 1 << 31
"""More user records than a record can hold: "a part of n processed" is (n, part − PARTS)."""


class Rank(IntEnum):
    """The coarse order of cuts."""

    START = 0
    INSIDE = 1
    TIP = 2
    DONE = 3


INSIDE = Rank.INSIDE
"""By a name of its own, as it is asked for of every shard: in Python 3.11 `Rank.INSIDE` takes ten
times as long."""


class Cut(Struct, frozen=True):
    """A place inside one shard. `a < b` means certainly before; some pairs have no order.

    number, sub: the last processed record, for rank INSIDE. A negative sub means that all records
    before it are processed, and at most a part of this one. text: the number as the store spells
    it; for DONE, the cut after which a read found nothing, if there was such a read. time: Unix
    seconds of a start by time, where `number` is 0; `None` if the time is unknown. quiet: Unix
    seconds up to which the store says that nothing was unread: later records may be.
    """

    rank: Rank
    number: int = 0
    sub: int = 0
    text: str = ""
    time: float | None = None
    by_time: bool = False
    quiet: float | None = None

    @property
    def processed(self) -> int:
        """The highest number up to which all is processed; `number` itself may be unread."""
        return self.number - (self.sub < 0)

    def __eq__(self, other: object) -> bool:
        """Without `text` and `quiet`. Most cuts are one of three, or of different ranks."""
        if self is other:
            return True
        if not isinstance(other, Cut):
            return NotImplemented
        if self.rank is not other.rank:
            return False
        return (self.number, self.sub, self.time, self.by_time) == (
            other.number, other.sub, other.time, other.by_time
        )

    def __hash__(self) -> int:
        return hash((self.rank, self.number, self.sub, self.time, self.by_time))

    def __lt__(self, other: Cut) -> bool:
        if self.rank != other.rank:
            return self.rank < other.rank
        if self.rank is not INSIDE:
            return False
        if self.by_time or other.by_time:
            return _time_before(self, other)
        return (self.number, self.sub) < (other.number, other.sub)

    def __le__(self, other: Cut) -> bool:
        return self == other or self < other

    def __str__(self) -> str:
        if self.rank is not INSIDE:
            return self.rank.name
        if self.by_time:
            return "AT(?)" if self.time is None else f"AT({self.time:.0f})"
        number = self.text or str(self.number)
        if self.sub < 0:
            return f"before {number}"
        return number + (f"/{self.sub}" if self.sub else "")


def _time_before(a: Cut, b: Cut) -> bool:
    """Whether `a` is certainly before `b`, where at least one of the two is a start by time."""
    if a.by_time and b.by_time:
        return a.time is not None and b.time is not None and a.time < b.time
    if b.by_time:
        written = time_of(a.number)
        return written is not None and b.time is not None and written + ARRIVAL_SLACK < b.time
    written = time_of(b.number)
    return written is not None and a.time is not None and a.time <= written


START = Cut(Rank.START)
TIP = Cut(Rank.TIP)
DONE = Cut(Rank.DONE)


def at_number(text: str, sub: int = 0) -> Cut:
    """The cut just after the record with this sequence number."""
    return Cut(INSIDE, int(text), sub, text)


def at_time(seconds: float | None) -> Cut:
    """The cut just before the first record that arrived at or after `seconds` (Unix)."""
    return Cut(INSIDE, time=seconds, by_time=True)


def possibly_before(a: Cut, b: Cut) -> bool:
    """Whether `a` may lie before `b`, that is, unless it is certain that it does not."""
    return not b <= a


class Basis(StrEnum):
    """What a bound of a span rests on."""

    STORED = "stored"
    INFERRED = "inferred"
    PROBED = "probed"


class Span(Struct, frozen=True):
    """A shard is processed certainly up to `lo` and possibly up to `hi`.

    basis: a bound that is only inferred does not keep a start from reading again; see
    planning/case.py. head: why its first records may have been passed over by an earlier start,
    "" if nothing says so; a shard that was read whole looks the same.
    """

    lo: Cut
    hi: Cut
    basis: Basis = Basis.STORED
    why: str = ""
    head: str = ""

    @property
    def exact(self) -> bool:
        """Whether both bounds are the same cut."""
        return self.lo == self.hi


def exactly(cut: Cut, basis: Basis = Basis.STORED, why: str = "") -> Span:
    """A span whose bounds are both `cut`."""
    return Span(cut, cut, basis, why)


Frontier = Mapping[ShardId, Span]
TargetFrontier = Mapping[ShardId, Cut]
"""The frontier that a policy asks for: one exact cut per shard."""


def meet(a: Span, b: Span) -> Span:
    """The span that holds whichever of the two is true: lowest lo, highest hi."""
    lo = a.lo if a.lo <= b.lo else b.lo if b.lo <= a.lo else START
    hi = a.hi if b.hi <= a.hi else b.hi if a.hi <= b.hi else DONE
    return Span(lo, hi, max(a.basis, b.basis, key=_doubt), a.why or b.why, a.head or b.head)


def _doubt(basis: Basis) -> int:
    return (Basis.PROBED, Basis.STORED, Basis.INFERRED).index(basis)


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


class Interval(Struct, frozen=True):
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


class PositionAtTime(Struct, frozen=True):
    """The cut just before the first record of a shard that arrived at or after a time.

    first_arrival: of that record, Unix seconds; `None` if there is none. early: the limit was
    reached first, so the cut is earlier than asked for and skips less. nothing_after: the shard is
    closed and no record arrived at or after that time.
    """

    at: Cut
    first_arrival: float | None = None
    early: bool = False
    nothing_after: bool = False
