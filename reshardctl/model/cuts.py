"""Cuts, spans and lines: where in a shard a consumer stands, and how sure that is.

`START < (sequence number, sub) < TIP < DONE`; `AT(time)` lies among the numbers by the time in
them. A cut settles everything up to and including itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from reshardctl.model.sequence import time_of
from reshardctl.model.shards import ShardId

ARRIVAL_SLACK = 3
"""Seconds by which a record's arrival may lie after the time in its number (0.3–2.5 seen)."""


class Rank(IntEnum):
    """The coarse order of cuts."""

    START = 0
    INSIDE = 1
    TIP = 2
    DONE = 3


@dataclass(frozen=True, slots=True)
class Cut:
    """A place inside one shard. `a < b` means certainly before; some pairs have no order.

    number, sub: the last processed record, for rank INSIDE; with a negative sub all before it is
    processed, and at most a part of itself. text: the number as it was spelled;
    of DONE, the cut behind which a read found nothing, as text, where there was one.
    time: Unix seconds for a start by time, where `number` is 0; NaN-free, `None` when the store
    says "by time" and nobody said which. quiet: Unix seconds as of which nothing lay behind it,
    where the store says so: what is unread arrived later.
    """

    rank: Rank
    number: int = 0
    sub: int = 0
    text: str = field(default="", compare=False)
    time: float | None = None
    by_time: bool = False
    quiet: float | None = field(default=None, compare=False)

    @property
    def processed(self) -> int:
        """The highest number up to which all is processed; `number` itself may be unread."""
        return self.number - (self.sub < 0)

    def __lt__(self, other: Cut) -> bool:
        if self.rank != other.rank:
            return self.rank < other.rank
        if self.rank is not Rank.INSIDE:
            return False
        if self.by_time or other.by_time:
            return _time_before(self, other)
        return (self.number, self.sub) < (other.number, other.sub)

    def __le__(self, other: Cut) -> bool:
        return self == other or self < other

    def __str__(self) -> str:
        if self.rank is not Rank.INSIDE:
            return self.rank.name
        if self.by_time:
            return "AT(?)" if self.time is None else f"AT({self.time:.0f})"
        number = self.text or str(self.number)
        if self.sub < 0:
            return f"before {number}"
        return number + (f"/{self.sub}" if self.sub else "")


def _time_before(a: Cut, b: Cut) -> bool:
    """Certainly before, where at least one of the two is a start by time."""
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
    """The cut just behind the record with this sequence number."""
    return Cut(Rank.INSIDE, int(text), sub, text)


def at_time(seconds: float | None) -> Cut:
    """The cut just before the first record that arrived at or after `seconds` (Unix)."""
    return Cut(Rank.INSIDE, time=seconds, by_time=True)


def possibly_before(a: Cut, b: Cut) -> bool:
    """Whether `a` may lie before `b`: all that is not ruled out."""
    return not b <= a


class Basis(StrEnum):
    """Why a bound is believed."""

    STORED = "stored"
    INFERRED = "inferred"
    PROBED = "probed"


@dataclass(frozen=True, slots=True)
class Span:
    """Processed certainly up to `lo`, possibly up to `hi`.

    basis: what is merely inferred keeps no start from reading again, see noless.py.
    """

    lo: Cut
    hi: Cut
    basis: Basis = Basis.STORED
    why: str = ""

    @property
    def exact(self) -> bool:
        """Whether nothing is uncertain."""
        return self.lo == self.hi


def exactly(cut: Cut, basis: Basis = Basis.STORED, why: str = "") -> Span:
    """A span without uncertainty."""
    return Span(cut, cut, basis, why)


Frontier = Mapping[ShardId, Span]
TargetFrontier = Mapping[ShardId, Cut]
"""The line a policy asks for; exact by nature."""


def meet(a: Span, b: Span) -> Span:
    """What holds whichever of the two is true: lowest lo, highest hi."""
    lo = a.lo if a.lo <= b.lo else b.lo if b.lo <= a.lo else START
    hi = a.hi if b.hi <= a.hi else b.hi if a.hi <= b.hi else DONE
    return Span(lo, hi, max(a.basis, b.basis, key=_doubt), a.why or b.why)


def _doubt(basis: Basis) -> int:
    return (Basis.PROBED, Basis.STORED, Basis.INFERRED).index(basis)
