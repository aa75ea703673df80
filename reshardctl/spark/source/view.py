"""The driver's listing, kept for some seconds, because triggers may be far closer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from reshardctl.errors import CannotTell, StreamUnsettled
from reshardctl.lineage import Lineage

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


@dataclass(slots=True)
class Afresh:
    """Lists with a new client after each failure: credentials may have been renewed since."""

    connect: Callable[[], Lists]
    _lists: Lists | None = None

    def lineage(self, stream: str, *, rereads: int = 5) -> Lineage:
        """See `Lists`."""
        lists, self._lists = self._lists or self.connect(), None
        lineage = lists.lineage(stream, rereads=rereads)
        self._lists = lists
        return lineage


@dataclass(slots=True)
class View:
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
