"""The driver's part of a streaming query: which batch comes next, and what its tasks read.

Independent of PySpark; `stream.py` passes on what PySpark calls with.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis.fast import Begin, Unread
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.source import losses
from reshardctl.spark.source.ends import Ends, Goals
from reshardctl.spark.source.latest import Lists, View, begin_of, first_begin, opening, to_pin
from reshardctl.spark.source.lines import Stretch, is_ahead
from reshardctl.spark.source.losses import Loss, Progress, kept_for
from reshardctl.spark.source.offset import (
    Offset,
    OffsetPosition,
    entrants,
    entry,
    kept,
    read,
    written,
)
from reshardctl.spark.source.options import TRIM_HORIZON, Start, Starting, StreamOptions
from reshardctl.spark.tips import IDLE_PACE, Reads, Tips

Raw = dict[str, Any]
_BEGINNING = Starting(Start(TRIM_HORIZON))


@dataclass(slots=True)
class Planner:
    """Plans the batches of one query. Its memory (iterators, a listing) may be lost."""

    options: StreamOptions
    lists: Lists
    reads: Reads
    clock: Callable[[], float] = time.time
    progress: Progress = field(default_factory=Progress)
    _tips: Tips = field(init=False)
    _view: View = field(init=False)
    _ends: Ends = field(init=False)
    _goals: Goals | None = None
    _position: Raw | None = None
    _planned: str = ""
    _idle: Raw | None = None
    _idle_at: float = 0.0
    _begun: float | None = None
    """When this process planned the query's first batch, if it did."""
    _looked_up: bool = False
    """Whether old positions were looked up, once a process: a running query is not that far behind.
    """
    _listed: Lineage | None = None
    """The lineage by which the newest batch was planned."""

    def __post_init__(self) -> None:
        common = self.options.common
        self._tips = Tips(self.reads, self.clock)
        self._view = View(self.lists, common.stream, self.clock)
        self._ends = Ends(self._tips, self.progress, self.clock)

    def initial(self) -> Raw:
        """The offset before the first batch: no shard yet. Always the same."""
        return written(Offset({}, self.options.common.stream_name))

    def latest(self, start: Raw | None, most: int | None) -> Raw:
        """Where the next batch ends, `start` itself if there is none.

        start: where it begins; `None` on PySpark 4.0 and 4.1, which do not say: then it begins
        where the batch ended for which `stretches` was last called. most: records of the batch,
        `None` for no limit.

        DataLoss if unread records have expired and failOnDataLoss is true; UsageError or CannotTell
        if the stream cannot be read, also by a new listing.
        """
        begin = start if start is not None else self._position or self.initial()
        now = self.clock()
        if begin == self._idle and 0 <= now - self._idle_at < IDLE_PACE:
            return begin  # Spark asks every ten milliseconds while nothing comes
        offset = self._own(begin)
        listed = not self._view.old
        try:
            after = self._next(offset, self._view.lineage(), most)
        except (CannotTell, UsageError) as error:
            if not listed or isinstance(error, losses.DataLoss):
                raise
            # A shard or the whole stream may differ from the listing that is held.
            self._view.drop()
            after = self._next(offset, self._view.lineage(), most)
        self.progress.planned(after or offset, after is not None)
        if after is None:
            self._idle, self._idle_at = begin, now
            return begin
        planned = written(after)
        self._planned = json.dumps(planned)
        return planned

    def pin(self) -> None:
        """Let batches end, from now on, where the stream ends at this moment: AvailableNow."""
        self._view.drop()
        self._goals = self._ends.goals(self._view.lineage())

    def stretches(self, start: Raw, end: Raw) -> list[Stretch]:
        """What the batch between two offsets reads; the same for the same two."""
        first, last = self._own(start), self._own(end)
        self._position = end
        if start == end:
            return []
        if json.dumps(end) == self._planned:
            return self._stretches(first, last)
        self._view.drop()
        self._listed = self._view.lineage()
        return self._again(first, last, self._listed, self._stretches(first, last))

    def committed(self, end: Raw) -> None:
        """The batch up to this offset is done."""
        if self._position is None:
            self._position = end

    def _own(self, value: Raw) -> Offset:
        offset = read(value)
        losses.same_stream(offset, self.options.common.stream_name)
        return offset

    def _next(self, offset: Offset, lineage: Lineage, most: int | None) -> Offset | None:
        """The offset after the next batch, `None` if nothing is to be read or noted."""
        starting, now = self.options.starting, self.clock()
        self._listed = lineage
        if (anew := losses.recreated(offset, lineage.stream.created)) is not None:
            self._lost([anew])
            self._tips.forget()
            offset, starting = Offset({}), _BEGINNING
        losses.all_born(offset, lineage)
        before = {s: p for s, p in offset.shards.items() if p.end or s in lineage}
        if offset.initial:
            entering = opening(lineage, starting, now)
            pins = to_pin(lineage, starting)
            self._begun = now
        else:
            entering = {s: entry(lineage, before, s) for s in entrants(lineage, before)}
            pins = set()
        self._lost(self._losses(offset, lineage, entering, now))
        self._looked_up = True
        places = {**before, **entering}
        ends = self._ends.of(lineage, places, pins, self._goals, most)
        if ends.unlisted:
            self._view.drop()
        stream = lineage.stream
        changed = bool(entering) or len(before) < len(offset.shards) or ends.moved
        if not changed and offset.retention in (None, stream.retention):
            return None
        name = self.options.common.stream_name
        return Offset(kept(lineage, ends.places), name, stream.created, stream.retention)

    def _losses(
        self,
        offset: Offset,
        lineage: Lineage,
        entering: Mapping[ShardId, OffsetPosition],
        now: float,
    ) -> list[Loss]:
        if offset.initial:
            return []
        new = {s: losses.from_birth(lineage, s, position) for s, position in entering.items()}
        losses_found = [
            losses.trimmed(offset.shards, lineage),
            losses.skipped(offset, lineage, entering),
            self._expired({**offset.shards, **new}, lineage, now, kept_for(offset, lineage)),
            None if self._looked_up else self._shortened(offset.shards, lineage, now),
        ]
        return [loss for loss in losses_found if loss is not None]

    def _expired(
        self,
        places: Mapping[ShardId, OffsetPosition],
        lineage: Lineage,
        now: float,
        retention: float,
    ) -> Loss | None:
        """The loss of expired positions whose own record cannot be read any more either."""
        horizon = now - retention
        gone = [
            (shard, since)
            for shard, since in losses.suspects(places, lineage, now, self._begun, horizon)
            if not (seq := places[shard].seq) or not self._tips.holds(shard, seq)
        ]
        return losses.expired(gone, horizon)

    def _shortened(
        self, places: Mapping[ShardId, OffsetPosition], lineage: Lineage, now: float
    ) -> Loss | None:
        asked = losses.to_look_up(places, lineage, now)
        gone = [(shard, seq) for shard, seq in asked if not self._tips.holds(shard, seq)]
        return losses.shortened(gone, now)

    def _lost(self, lost: list[Loss]) -> None:
        if not lost:
            return
        stream = self.options.common.stream_name
        if self.options.fail_on_loss:
            raise losses.failure(lost, stream)
        self.progress.lose(lost, stream)

    def _stretches(self, first: Offset, last: Offset) -> list[Stretch]:
        anew = _anew(first, last)
        to_read = []
        for shard, position in sorted(last.shards.items()):
            begin = self._begin(first, shard, position, anew)
            if begin is None:
                continue
            unread = None if anew else self._watched(first, shard)
            if position.end:
                to_read.append(Stretch(shard, begin, None, to_end=True, unread=unread))
            elif position.seq and is_ahead(position.seq, begin):
                to_read.append(Stretch(shard, begin, position.seq, unread=unread))
        return to_read

    def _watched(self, first: Offset, shard: ShardId) -> Unread | None:
        """Records that the executors must not skip; for a new query only those after its first."""
        lineage = self._listed
        if lineage is None or not self.options.fail_on_loss:
            return None
        position = OffsetPosition() if first.initial else self._owed(first, lineage, shard)
        young = not position.seq and losses.young(self.clock(), self._begun)
        return Unread(None if young else losses.stands_for(position), lineage.stream.retention)

    def _begin(
        self, first: Offset, shard: ShardId, position: OffsetPosition, anew: bool
    ) -> Begin | None:
        """Where the batch begins in a shard; `None` if it does not read it."""
        if first.initial and not anew:
            return first_begin(self.options.starting, shard, position)
        if anew:
            return Begin("TRIM_HORIZON")
        before = first.shards.get(shard) or self._entry(first, shard)
        return None if before.end else begin_of(before)

    def _owed(self, first: Offset, lineage: Lineage, shard: ShardId) -> OffsetPosition:
        if (position := first.shards.get(shard)) is not None:
            return position
        return losses.from_birth(lineage, shard, self._entry(first, shard))

    def _entry(self, first: Offset, shard: ShardId) -> OffsetPosition:
        if all(position.since is None for position in first.shards.values()):
            return OffsetPosition()
        lineage = self._view.lineage()
        return entry(lineage, first.shards, shard) if shard in lineage else OffsetPosition()

    def _again(
        self, first: Offset, last: Offset, lineage: Lineage, planned: list[Stretch]
    ) -> list[Stretch]:
        """The unread part of a batch that another process planned, or this one long ago."""
        if (anew := losses.recreated(last, lineage.stream.created)) is not None:
            self._lost([anew])
            return []
        losses.all_born(last, lineage)
        reading = {ShardId(stretch.shard): stretch for stretch in planned}
        new = first.initial or _anew(first, last)
        places = {s: OffsetPosition() if new else self._owed(first, lineage, s) for s in reading}
        now = self.clock()
        lost = (
            losses.trimmed(places, lineage),
            self._expired(places, lineage, now, kept_for(last, lineage)),
            self._shortened(places, lineage, now),
        )
        self._lost([loss for loss in lost if loss is not None])
        return [stretch for shard, stretch in reading.items() if shard in lineage]


def _anew(first: Offset, last: Offset) -> bool:
    """Whether the stream was recreated between two offsets."""
    return last.created is not None and losses.recreated(first, last.created) is not None
