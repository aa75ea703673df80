"""Finds where a shard ends for now: the number of a record that was seen there.

Kinesis does not return a shard's newest number. So one record is read after the position so far; if
more follow it, the tip is approached from the other side, by AT_TIMESTAMP with ever longer windows
before now, each answered by a single record, and the last one read as a page. Payloads are read for
the last window only, which is a second long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

from reshardctl.kinesis.fast import Begin, IteratorExpired, Page, Record, Start, TimeAhead, order
from reshardctl.model import ShardId

WINDOWS = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0, 31_536_000.0)
"""Seconds before now; the longest is the longest retention of a stream."""
IDLE_PACE = 1.0
"""Seconds between two reads of an empty shard; a shard is read at most five times a second, by all
its readers together (GetRecords API reference)."""
_EMPTY = 20
_PATIENT = 1000
"""How many answers without a record are followed while MillisBehindLatest says that more records
come: at every trigger, and when a process reads a shard for the first time or for good."""
_PAGES = 20
"""Pages of the last window that are read to reach its end."""
_NARROW = 12
"""How often a window is halved."""
_ALL = 10_000


class Reads(Protocol):
    """The methods needed of `FastReader`; what it raises is passed on."""

    def iterator(self, shard: str, kind: Start, value: str | float | None = None) -> str:
        """An iterator into a shard. value: the sequence number or Unix second that kind needs."""

    def page(self, iterator: str, limit: int = _ALL) -> Page:
        """The records at an iterator, at most this many, and the iterator that follows them."""


class Found(Struct, frozen=True):
    """What was seen of one shard.

    Attributes:
        number: Number of the last record read, `None` if none was.
        behind: MillisBehindLatest after the first record, by which the query was behind.
        quiet: Whether nothing follows `number`, or the position if no record was read.
        ended: Whether the shard's end was reached.
        count: Number of records read.
    """

    number: str | None = None
    behind: int = 0
    quiet: bool = False
    ended: bool = False
    count: int = 0


class _Kept(Struct):
    """An iterator at `begin`, or after it with nothing in between."""

    begin: Begin
    iterator: str | None
    quiet_at: float | None = None


class Tips(Struct):
    """Finds tips; may be used from several threads, but a shard only from one at a time."""

    reads: Reads
    clock: Callable[[], float] = time.time
    _kept: dict[ShardId, _Kept] = field(default_factory=dict)

    def behind(self, shard: ShardId, begin: Begin) -> Found:
        """The newest record after a position; one read while there is none."""
        kept = self._kept.get(shard)
        quiet = kept.quiet_at if kept and kept.begin == begin else None
        if quiet is not None and 0 <= self.clock() - quiet < IDLE_PACE:
            return Found(quiet=True)
        page = self._first(shard, begin, 1)
        if page is None:
            return Found()
        if not page.records:
            ended = page.following is None
            return Found(behind=page.behind, quiet=not page.behind or ended, ended=ended)
        number = _last(page)
        if page.behind == 0:
            self._keep(shard, number, page.following)
            return Found(number, quiet=True, count=1)
        newest, quiet = self._approach(shard, number, _arrival(page))
        # Arrival times are not in the order of numbers: a window may begin before the position.
        newest = number if newest is None else max(number, newest, key=order)
        return Found(newest, page.behind, quiet, count=1)

    def tip(self, shard: ShardId) -> Found:
        """The newest record of all that is left."""
        newest, quiet = self._approach(shard, None, None)
        return Found(newest, quiet=quiet)

    def count(self, shard: ShardId, begin: Begin, most: int, until: str | None) -> Found:
        """The record `most` after a position, or the last before that; never one after `until`."""
        number: str | None = None
        met = behind = 0
        page = self._first(shard, begin, most)
        while page is not None:
            records = page.records if until is None else _before(page, until)
            behind = behind or page.behind
            if records:
                met, number = met + len(records), records[-1].sequence_number
            beyond = len(records) < len(page.records) or (number is not None and number == until)
            if beyond or met >= most:
                break
            if page.following is None:
                return Found(number, behind, True, True, met)
            if not page.behind:
                break
            page = self._page(page.following, most - met)
        quiet = page is not None and not page.behind and len(page.records) < most
        if page is not None and number is not None and number == _last(page):
            self._keep(shard, number, page.following)
        return Found(number, behind, quiet, count=met)

    def holds(self, shard: ShardId, number: str) -> bool:
        """Whether the record with this number, and so all after it, can still be read."""
        page = self._seen(shard, Begin("AT_SEQUENCE_NUMBER", number))
        return page is not None and bool(page.records) and _number(page) == number

    def forget(self) -> None:
        """Drop all iterators, if the stream was replaced by another."""
        self._kept.clear()

    def _first(self, shard: ShardId, begin: Begin, limit: int) -> Page | None:
        """The first page with records after a position, else the last one; `None` in the future.

        Keeps the iterator of an empty page.
        """
        kept = self._kept.pop(shard, None)
        iterator = kept.iterator if kept and kept.begin == begin else None
        try:
            page = self._page(iterator, limit) if iterator else None
            if page is None:
                page = self._page(self.reads.iterator(shard, *begin), limit)
        except TimeAhead:
            return None
        # The next trigger continues after what was empty; another process would begin again.
        page = self._met(page, limit, _EMPTY if iterator else _PATIENT)
        if page is not None and not page.records:
            quiet = None if page.behind else self.clock()
            self._kept[shard] = _Kept(begin, page.following, quiet)
        return page

    def _page(self, iterator: str, limit: int) -> Page | None:
        """A page; `None` for an iterator that has expired."""
        try:
            return self.reads.page(iterator, max(1, min(limit, _ALL)))
        except IteratorExpired:
            return None

    def _keep(self, shard: ShardId, number: str, following: str | None) -> None:
        self._kept[shard] = _Kept(Begin("AFTER_SEQUENCE_NUMBER", number), following)

    def _approach(
        self, shard: ShardId, first: str | None, arrived: float | None
    ) -> tuple[str | None, bool]:
        """The newest record, and whether it is the tip. first: a record met, with its arrival."""
        now = self.clock()
        upper = now - WINDOWS[0]
        newest, quiet = self._newest_second(shard, upper)
        if newest is not None:
            return newest, quiet
        for window in WINDOWS[1:]:
            then = now - window
            if arrived is not None and then <= arrived:
                break
            page = self._seen(shard, Begin("AT_TIMESTAMP", then))
            if page is None or not page.records:
                upper = then if page is not None else upper
                continue
            if not page.behind:
                self._keep(shard, _number(page), page.following)
                return _number(page), True
            return self._narrow(shard, Begin("AT_TIMESTAMP", then), then, upper, _number(page))
        if first is None or arrived is None:
            return None, True
        begin = Begin("AFTER_SEQUENCE_NUMBER", first)
        return self._narrow(shard, begin, arrived, upper, first)

    def _newest_second(self, shard: ShardId, then: float) -> tuple[str | None, bool]:
        try:
            return self._read_on(shard, Begin("AT_TIMESTAMP", then), None)
        except TimeAhead:
            return None, False

    def _narrow(
        self, shard: ShardId, begin: Begin, lower: float, upper: float, newest: str
    ) -> tuple[str | None, bool]:
        """Halve the time in which the tip is to a second, then read that second."""
        for _ in range(_NARROW):
            if upper - lower <= WINDOWS[0]:
                break
            middle = (lower + upper) / 2
            page = self._seen(shard, Begin("AT_TIMESTAMP", middle))
            if page is None or not page.records:
                upper = middle
                continue
            begin, lower, newest = Begin("AT_TIMESTAMP", middle), middle, _last(page)
            if not page.behind:
                return newest, True
        return self._read_on(shard, begin, newest)

    def _read_on(
        self, shard: ShardId, begin: Begin, newest: str | None
    ) -> tuple[str | None, bool]:
        """The last record of the pages from here on, `newest` if there is none."""
        page = self._page(self.reads.iterator(shard, *begin), _ALL)
        for _ in range(_PAGES):
            if page is None:
                break
            if page.records:
                newest = _last(page)
            if page.following is None or not page.behind:
                if page.records:
                    self._keep(shard, _last(page), page.following)
                return newest, True
            page = self._page(page.following, _ALL)
        return newest, False

    def _seen(self, shard: ShardId, begin: Begin) -> Page | None:
        """One record at a position, else the last answer without one; `None` if unknown."""
        try:
            page = self._page(self.reads.iterator(shard, *begin), 1)
        except TimeAhead:
            return None
        return self._met(page, 1, _PATIENT)

    def _met(self, page: Page | None, limit: int, hops: int) -> Page | None:
        """The first page with a record from this one on, else the last page read."""
        for _ in range(hops):
            if page is None or page.records or page.following is None or not page.behind:
                break
            page = self._page(page.following, limit)
        return page


def _before(page: Page, until: str) -> list[Record]:
    end = order(until)
    return [record for record in page.records if order(record.sequence_number) <= end]


def _number(page: Page) -> str:
    return page.records[0].sequence_number


def _last(page: Page) -> str:
    return page.records[-1].sequence_number


def _arrival(page: Page) -> float | None:
    return page.records[0].approximate_arrival_timestamp
