"""The frontier at which a query without a checkpoint begins, and the driver's listing of shards.

LATEST is fixed: a shard's tip at the planning of the first batch is written into that batch's
offset as a number, and every shard that is created later is read from its start.

The listing is kept for some seconds, because triggers may be far closer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from reshardctl.errors import CannotTell, StreamUnsettled, UsageError
from reshardctl.kinesis.fast import Begin
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, short
from reshardctl.spark.source.offset import OffsetPosition
from reshardctl.spark.source.options import (
    AFTER_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    LATEST,
    SHARD_END,
    TRIM_HORIZON,
    Start,
    Starting,
)

_LATE = 60.0
"""Seconds after a shard's close within which its last record may still arrive; 0.3 to 2.5 s were
seen between a number's time and the arrival."""
_DONE = OffsetPosition(end=True)


def opening(lineage: Lineage, starting: Starting, now: float) -> dict[ShardId, OffsetPosition]:
    """Where each shard begins that does not wait for its parents.

    Shards at LATEST are `to_pin`. A finished position is a mark: nothing of that shard is read.
    Raises UsageError if `starting` contradicts the listing.
    """
    if starting.everywhere is None:
        return _named(lineage, starting.shards)
    match starting.everywhere.kind:
        case "LATEST":
            return {s: OffsetPosition() if lineage.is_open(s) else _DONE for s in lineage}
        case "AT_TIMESTAMP":
            return _since(lineage, float(starting.everywhere.value or 0), now)
        case _:
            return {shard: OffsetPosition() for shard in lineage.roots()}


def to_pin(lineage: Lineage, starting: Starting) -> set[ShardId]:
    """Open shards that begin at their tip."""
    if starting.everywhere is not None:
        return set(lineage.open_shards()) if starting.everywhere.kind == LATEST else set()
    at_tip = (s for s, start in starting.shards.items() if start.kind == LATEST)
    return {s for s in at_tip if lineage.is_open(s)}


def first_begin(starting: Starting, shard: ShardId, position: OffsetPosition) -> Begin | None:
    """Where the first batch begins in a shard, if it reads it; by options and stored offset."""
    start = starting.everywhere or starting.shards.get(shard)
    if start is None or start.kind in (LATEST, SHARD_END):
        return None
    if start.kind == AT_TIMESTAMP:
        if position.end and position.since is None and not position.seq:
            return None
        return Begin("AT_TIMESTAMP", start.value)
    if start.kind == AFTER_SEQUENCE_NUMBER:
        return Begin("AFTER_SEQUENCE_NUMBER", start.value)
    return Begin("TRIM_HORIZON")


def begin_of(position: OffsetPosition) -> Begin:
    """Where a batch that starts at this position reads from."""
    if position.seq:
        return Begin("AFTER_SEQUENCE_NUMBER", position.seq)
    if position.since is not None:
        return Begin("AT_TIMESTAMP", position.since)
    return Begin("TRIM_HORIZON")


def _since(lineage: Lineage, then: float, now: float) -> dict[ShardId, OffsetPosition]:
    """The frontier at a time: shards closed before it have ended, those created later wait."""
    if then > now + _LATE:
        raise UsageError("startingPosition lies in the future", "give a time that has passed")
    positions: dict[ShardId, OffsetPosition] = {}
    for shard in lineage:
        parents = lineage.parents(shard)
        if any(positions.get(parent) != _DONE for parent in parents):
            continue
        closed = lineage.closed_at(shard)
        over = not lineage.is_open(shard) and closed is not None and closed + _LATE < then
        positions[shard] = _DONE if over else OffsetPosition(since=then)
    return positions


def _named(lineage: Lineage, starts: Mapping[ShardId, Start]) -> dict[ShardId, OffsetPosition]:
    """The frontier by shard; ancestors of a named shard have ended, descendants wait for it."""
    for shard, start in starts.items():
        if shard not in lineage:
            raise UsageError(
                f"startingPosition names shard {short(shard)}, which is not listed",
                f"aws kinesis list-shards --stream-name {lineage.stream.name}",
            )
        if start.kind == SHARD_END and lineage.is_open(shard):
            what = f"startingPosition says SHARD_END for shard {short(shard)}, which is open"
            raise UsageError(what, "say TRIM_HORIZON, LATEST or its last number read")
    positions: dict[ShardId, OffsetPosition] = {}
    waits: set[ShardId] = set()
    for shard in lineage:
        parents = lineage.parents(shard)
        unread = [p for p in parents if p in waits or not positions.get(p, _DONE).end]
        if unread:
            waits.add(shard)
            _may_wait(shard, starts.get(shard), unread)
        elif shard in starts:
            positions[shard] = _place(lineage, shard, starts[shard])
        elif not lineage.is_open(shard) and lineage.descendants(shard) & starts.keys():
            positions[shard] = _DONE
        elif lineage.ancestors(shard) & starts.keys():
            waits.add(shard)
        else:
            raise UsageError(
                f"startingPosition does not say where shard {short(shard)} begins",
                'add it: "TRIM_HORIZON", "LATEST" or its last number read',
            )
    return positions


def _place(lineage: Lineage, shard: ShardId, start: Start) -> OffsetPosition:
    if start.kind == SHARD_END or (start.kind == LATEST and not lineage.is_open(shard)):
        return _DONE
    if start.kind == AT_TIMESTAMP:
        return OffsetPosition(since=float(start.value or 0))
    if start.kind == AFTER_SEQUENCE_NUMBER:
        return OffsetPosition(seq=str(start.value))
    return OffsetPosition()


def _may_wait(shard: ShardId, start: Start | None, unread: list[ShardId]) -> None:
    if start is not None and start.kind != TRIM_HORIZON:
        raise UsageError(
            f"startingPosition has shard {short(shard)} start after its beginning, though its "
            f"parent {short(unread[0])} has unread records",
            f'say "SHARD_END" for shard {short(unread[0])}, or leave shard {short(shard)} out',
        )


LISTED_FOR = 10.0
"""Seconds by which a reshard is noticed later; nothing is lost by that."""
SHARE = 10.0
"""A listing that takes long is kept this many times as long, up to LONGEST seconds: for a stream
with 100 000 listed shards, or one that is UPDATING, which is listed until two agree."""
LONGEST = 60.0
UNSETTLED_FOR = 600.0
"""Seconds for which the last listing may be used while no new one is consistent or can be had:
DescribeStreamSummary is shared by the whole account (20 calls a second)."""
LOG = logging.getLogger("reshardctl.spark.source")


class Lists(Protocol):
    """The method needed of `Kinesis`."""

    def lineage(self, stream: str, *, rereads: int = 5) -> Lineage:
        """The shards that the stream lists now. rereads: as in `Kinesis.lineage`."""


class Afresh(Struct):
    """Lists with a new client after each failure: credentials may have been renewed since."""

    connect: Callable[[], Lists]
    _lists: Lists | None = None

    def lineage(self, stream: str, *, rereads: int = 5) -> Lineage:
        """See `Lists`."""
        lists, self._lists = self._lists or self.connect(), None
        lineage = lists.lineage(stream, rereads=rereads)
        self._lists = lists
        return lineage


class View(Struct):
    """A stream's lineage, listed again when it is old or was dropped."""

    lists: Lists
    stream: str
    clock: Callable[[], float] = time.time
    _lineage: Lineage | None = None
    _at: float = 0.0
    _took: float = 0.0
    _dropped: bool = False

    @property
    def old(self) -> bool:
        """Whether `lineage` would list the shards now."""
        held = max(LISTED_FOR, min(SHARE * self._took, LONGEST))
        # A clock may be set back.
        return self._lineage is None or self._dropped or not 0 <= self.clock() - self._at < held

    def lineage(self) -> Lineage:
        """The lineage; raises what `Kinesis.lineage` raises, after some time of CannotTell."""
        if self.old or self._lineage is None:
            begun = self.clock()
            try:
                lineage = self._newer(self.lists.lineage(self.stream))
            except CannotTell as error:
                if self._lineage is None or self.clock() - self._at > UNSETTLED_FOR:
                    raise
                LOG.warning("%s: continuing with the previous listing", error.what)
                return self._lineage
            self._lineage, self._at, self._dropped = lineage, self.clock(), False
            self._took = self._at - begun
        return self._lineage

    def _newer(self, listed: Lineage) -> Lineage:
        """The new listing; raises StreamUnsettled if it lags behind the held one."""
        held = self._lineage
        if held is None or listed.stream.created != held.stream.created:
            return listed
        if listed.newest_index() >= held.newest_index():
            return listed
        raise StreamUnsettled(
            f"the listing of stream {held.stream.name} lacks shards that were listed before",
            "run this again",
        )

    def drop(self) -> None:
        """List again the next time: something was seen that the listing does not show."""
        self._dropped = True
