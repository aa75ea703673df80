"""The listing as the driver sees it, kept for some seconds: triggers may be far closer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from reshardctl.errors import CannotTell, StreamUnsettled
from reshardctl.lineage import Lineage

LISTED_FOR = 10.0
"""Seconds. A reshard is noticed so much later; nothing is lost by that."""
SHARE = 10.0
"""A listing that takes long is kept for so many times as long, up to LONGEST seconds: of a
stream with 100 000 listed shards, or of one that is UPDATING, which is listed until two agree."""
LONGEST = 60.0
UNSETTLED_FOR = 600.0
"""Seconds for which a stream may be read by its last listing while no new one holds together, or
can be had: DescribeStreamSummary is shared by all of an account (20 calls a second)."""
LOG = logging.getLogger("reshardctl.spark.source")


class Lists(Protocol):
    """What is needed of `Kinesis`."""

    def lineage(self, stream: str, *, rereads: int = 5) -> Lineage: ...


@dataclass(slots=True)
class Afresh:
    """Lists with a new client after each failure: credentials may have been renewed since."""

    connect: Callable[[], Lists]
    _lists: Lists | None = None

    def lineage(self, stream: str, *, rereads: int = 5) -> Lineage:
        """As `Lists`."""
        lists, self._lists = self._lists or self.connect(), None
        found = lists.lineage(stream, rereads=rereads)
        self._lists = lists
        return found


@dataclass(slots=True)
class View:
    """A stream's lineage, listed anew when it is old or was dropped."""

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
        """The lineage. What `Kinesis.lineage` raises, but for a short time of CannotTell."""
        if self.old or self._lineage is None:
            begun = self.clock()
            try:
                found = self._newer(self.lists.lineage(self.stream))
            except CannotTell as error:
                if self._lineage is None or self.clock() - self._at > UNSETTLED_FOR:
                    raise
                LOG.warning("%s: going on by the listing of before", error.what)
                return self._lineage
            self._lineage, self._at, self._dropped = found, self.clock(), False
            self._took = self._at - begun
        return self._lineage

    def _newer(self, found: Lineage) -> Lineage:
        """What was listed, unless it lags behind what is held: listings are eventually consistent,
        and what is missing there would be taken for trimmed. StreamUnsettled if it does."""
        held = self._lineage
        if held is None or found.stream.created != held.stream.created:
            return found
        if found.newest_index() >= held.newest_index():
            return found
        raise StreamUnsettled(
            f"the listing of stream {held.stream.name} lacks shards that were listed before",
            "run this again",
        )

    def drop(self) -> None:
        """List anew the next time: something was met that the listing does not show."""
        self._dropped = True
