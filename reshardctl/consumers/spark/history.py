"""What the retained batches prove to be processed, shard by shard.

Every batch is evidence, not only the newest: a shard that one batch names and no later one does was
processed as far as the log of that batch says. awslabs from 1.4.3 on drops closed shards that way,
and its newest batch looks clean (run of awslabs 0f4c005, checkpoint s1x).

A query may have skipped a shard's first records: begun at a time after its creation. Under
startingPosition LATEST (or a time), a new shard begins at the time at which the driver started. For
a shard created while the query was down, records between its creation and that time are never read
(runs of Qubole's jar, awslabs 1.4.2 and 0f4c005, November 2026: s3 after its restart).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.consumers.spark.checkpoint import QUBOLE, Batch, Checkpoint, log_of, planned_at
from reshardctl.consumers.spark.lines.at_once import same_shards
from reshardctl.consumers.spark.planned_batch import readable
from reshardctl.consumers.spark.positions import (
    AT_TIMESTAMP,
    LATEST,
    NUMBERED,
    SHARD_END,
    TRIM_HORIZON,
    Position,
    cut_of,
    is_at_end,
    is_foreign,
    start_in,
)
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cut,
    ShardId,
    Span,
    at_time,
    exactly,
)
from reshardctl.model.times import instant


class Head(Struct, frozen=True):
    """A skipped interval, in Unix seconds from `born` to `begun`."""

    born: float
    begun: float

    @property
    def why(self) -> str:
        """The reason, as text."""
        return (
            f"begun at {instant(self.begun)}, {self.begun - self.born:g} s after its creation: "
            "what came before was never read"
        )


def passed_by(lineage: Lineage, checkpoint: Checkpoint) -> dict[ShardId, Head]:
    """Listed shards that appeared after the query's first batch and never began at their start."""
    oldest = next(iter(checkpoint.batches.values()), None)
    heads: dict[ShardId, Head] = {}
    whole: set[ShardId] = set()
    passed = set(oldest.positions) if oldest is not None else set()
    """Shards of the oldest batch, those that began at their start, and those not listed."""
    before, left = oldest, False
    for batch in checkpoint.batches.values():
        if before is not None and not left and same_shards(batch.positions, before.positions):
            continue
        for shard in sorted(batch.positions.keys() - passed):
            if shard not in lineage:
                passed.add(shard)
                continue
            position = batch.positions[shard]
            born, cut = lineage.opened_at(shard), cut_of(position)
            if cut == START or (born is not None and cut.time is not None and cut.time <= born):
                whole.add(shard)
                passed.add(shard)
            elif shard not in heads and born is not None and cut.time is not None:
                heads[shard] = Head(born, cut.time)
        before, left = batch, not batch.positions.keys() <= passed
    return {shard: head for shard, head in heads.items() if shard not in whole}


SLACK = 120.0
"""Seconds by which a listing may be older than the time stamp of the batch that used it."""

_NEVER_NAMED = exactly(START, Basis.INFERRED, "no batch names it: it was never begun")
_UNTOLD = Span(START, DONE, Basis.INFERRED, "nothing tells whether it was read")
_NOT_IN_OLDEST = Span(
    START, DONE, Basis.INFERRED, "open when the oldest batch was planned, and not in it"
)
_CREATED_SINCE = exactly(
    START, Basis.INFERRED, "created since the oldest batch, and never begun"
)
_LISTED_AT_FIRST = exactly(
    START, Basis.INFERRED, "listed when the query began at TRIM_HORIZON, and never begun"
)
_CLOSED_BEFORE_FIRST = exactly(
    DONE, Basis.INFERRED, "closed before the query began: passed by"
)
_CLOSED_BEFORE_OLDEST = exactly(
    DONE, Basis.INFERRED, "closed before the oldest batch that is kept: unknown"
)


class Seen(Struct, frozen=True):
    """The first and the last of the retained batches that name a shard."""

    first: int
    last: int


def seen(checkpoint: Checkpoint) -> dict[ShardId, Seen]:
    """Every shard that a retained offset line names, or the log of Qubole's newest batch."""
    first = _named_by(checkpoint, checkpoint.batches)
    last = _named_by(checkpoint, reversed(list(checkpoint.batches)))
    return {shard: Seen(number, last[shard]) for shard, number in first.items()}


def _named_by(checkpoint: Checkpoint, numbers: Iterable[int]) -> dict[ShardId, int]:
    """Every shard that these batches name, each with the first of them that does."""
    batch_of: dict[ShardId, int] = {}
    before: Mapping[ShardId, Position] | None = None
    for number in numbers:
        batch = checkpoint.batches[number]
        if not same_shards(batch.positions, before):
            batch_of |= dict.fromkeys(batch.positions.keys() - batch_of.keys(), number)
        if checkpoint.connector == QUBOLE and (log := checkpoint.entries.get(log_of(batch))):
            batch_of |= dict.fromkeys(log.keys() - batch_of.keys(), number)
        before = batch.positions
    return batch_of


def processed(lineage: Lineage, checkpoint: Checkpoint) -> dict[ShardId, Span]:
    """A span for every listed shard and every unlisted one that the newest batch names."""
    checkpoint = readable(lineage, checkpoint)
    past = _Past(lineage, checkpoint)
    line: dict[ShardId, Span] = {}
    for shard, when in past.seen.items():
        if shard not in lineage and when.last == checkpoint.newest:
            line[shard] = past.span(shard)
    for shard in lineage:
        line[shard] = past.span(shard) if shard in past.seen else past.unnamed(shard)
    if again := checkpoint.runs_again:
        entries = checkpoint.entries.get(log_of(again), {})
        line |= widened(line, again, {shard: entry.position for shard, entry in entries.items()})
    return line


def widened(
    line: Mapping[ShardId, Span], again: Batch, ends: Mapping[ShardId, Position]
) -> dict[ShardId, Span]:
    """The spans of shards that `again` has read and will read again, up to where it ended."""
    why = f"batch {again.id} ran, and commits/{again.id} cannot be read"
    spans = {}
    for shard, position in ends.items():
        if (span := line.get(shard)) is not None and span.hi < cut_of(position):
            spans[shard] = Span(span.lo, cut_of(position), Basis.INFERRED, why)
    return spans


def stored(checkpoint: Checkpoint, shard: ShardId, cut: Cut) -> Position | None:
    """The cut as the last batch that names the shard spells it, to be written back unchanged."""
    for number in sorted(checkpoint.batches, reverse=True):
        batch = checkpoint.batches[number]
        entry = checkpoint.entries.get(log_of(batch), {}).get(shard)
        positions = [entry.position, *entry.others] if entry is not None else []
        if shard in batch.positions:
            positions.append(batch.positions[shard])
        for position in positions:
            if cut_of(position) == cut:
                return position
        if positions and all(position.kind not in (AT_TIMESTAMP, LATEST) for position in positions):
            return None
    return None


class _Past:
    """The retained batches, read once."""

    def __init__(self, lineage: Lineage, checkpoint: Checkpoint) -> None:
        self._lineage, self._checkpoint = lineage, checkpoint
        self.seen = seen(checkpoint)
        self._heads = lineage.memo(passed_by, lineage, checkpoint)
        self._ids = list(checkpoint.batches)
        oldest = checkpoint.batches[self._ids[0]] if self._ids else None
        self._since = planned_at(oldest) if oldest else None
        self._whole = bool(self._ids) and self._ids[0] == 0
        self._from_start = self._whole and oldest is not None and any(
            position.kind == TRIM_HORIZON for position in oldest.positions.values()
        )

    def span(self, shard: ShardId) -> Span:
        """What the last batch that names the shard proves."""
        batch, position, known = self._last_word(shard)
        if position is None:
            tip = furthest(self._lineage, shard)
            return Span(START, tip, Basis.INFERRED, "its number is no number of this shard")
        span = self._said(shard, batch, position, known)
        copies = [
            self._said(shard, batch, other, known) for other in self._others(shard, batch)
            if not is_foreign(self._lineage, shard, other)
        ]
        if not copies:
            return span
        why = f"the log of batch {batch.id} has files that say different things of it"
        spans = (span, *copies)
        return Span(
            min(each.lo for each in spans), max(each.hi for each in spans), Basis.INFERRED, why
        )

    def _others(self, shard: ShardId, batch: Batch) -> tuple[Position, ...]:
        """What copies in the log of a committed batch say else."""
        entry = self._checkpoint.entries.get(log_of(batch), {}).get(shard)
        return entry.others if batch.committed and entry is not None else ()

    def _said(self, shard: ShardId, batch: Batch, position: Position, known: bool) -> Span:
        """What a position that a batch holds proves."""
        if is_at_end(self._lineage, shard, position):
            return exactly(DONE, why="its position is the shard's EndingSequenceNumber")
        if not known:
            tip = furthest(self._lineage, shard)
            why = f"the log of batch {batch.id}, the last that names it, is not there"
            timed = position.kind in (AT_TIMESTAMP, LATEST)
            lo = self._unread(shard, position).lo if timed else cut_of(position)
            lo = START if shard in self._heads else lo
            return Span(lo, tip, Basis.INFERRED, why)
        if position.kind in (AT_TIMESTAMP, LATEST):
            return self._unread(shard, position)
        if position.kind == SHARD_END and shard in self._lineage and self._lineage.is_open(shard):
            return Span(START, TIP, Basis.INFERRED, "marked as ended while it is open")
        if (begun := self._begun_beyond(shard, batch, position)) is not None:
            why = f"the log of batch {batch.id} ends before the batch began: it read on from there"
            return Span(begun, furthest(self._lineage, shard), why=why)  # its start is stored
        if (head := self._heads.get(shard)) is not None:
            return Span(START, cut_of(position), Basis.INFERRED, head.why)
        gone = batch.id != self._checkpoint.newest and position.kind != SHARD_END
        why = f"batch {batch.id} is the last that names it, and did not end it" if gone else ""
        return exactly(cut_of(position), why=why)

    def _begun_beyond(self, shard: ShardId, batch: Batch, end: Position) -> Cut | None:
        """Where a committed batch began, if its log ends before that: an earlier run's or a backup.

        Records before that start were read by the batch before it.
        """
        start = batch.positions.get(shard)
        if not batch.committed or start is None or start.kind not in NUMBERED:
            return None
        if shard in self._heads or is_foreign(self._lineage, shard, start):
            return None
        return cut_of(start) if cut_of(end) < cut_of(start) else None

    def _last_word(self, shard: ShardId) -> tuple[Batch, Position | None, bool]:
        """The newest position that can be true; one that Kinesis refuses was never read from."""
        when = self.seen[shard]
        last = self._checkpoint.batches[when.last]
        for number in reversed(self._ids):
            batch = self._checkpoint.batches[number]
            if not when.first <= number <= when.last:
                continue
            position, known = self._stated(shard, batch)
            if position is None or (is_foreign(self._lineage, shard, position) and not (
                batch.committed and is_at_end(self._lineage, shard, position)
            )):
                continue
            return batch, position, known
        return last, None, True

    def _stated(self, shard: ShardId, batch: Batch) -> tuple[Position | None, bool]:
        """The position after a committed batch or before a planned one; whether its log exists."""
        start = batch.positions.get(shard)
        if not batch.committed:
            return start, True
        log = log_of(batch)
        entries = self._checkpoint.entries.get(log, {})
        if (entry := entries.get(shard)) is not None:
            return entry.position, True
        if start is not None and start.kind == SHARD_END:
            return start, True
        return start, log in self._checkpoint.listed and bool(entries)

    def _unread(self, shard: ShardId, position: Position) -> Span:
        """The span of a shard whose last place is LATEST or a time.

        Before LATEST it was read up to its last other place. Without one it was never read: a shard
        that appeared while the query existed is unread from its beginning, one of the first start
        from the time of that start (awslabs 0f4c005 forgets it and stores LATEST).
        """
        batch, earliest, known = self._before_the_tip(shard, position)
        if earliest.kind not in (AT_TIMESTAMP, LATEST):
            said = self._said(shard, batch, earliest, known)
            why = f"batch {batch.id} is the last that has a place of it: later ones say LATEST"
            return Span(said.lo, said.hi, Basis.INFERRED, why)
        first = self._checkpoint.batches[self.seen[shard].first]
        if self._born_since(shard, first):
            return exactly(START, why="no record of it was ever stored as read")
        if earliest.kind == AT_TIMESTAMP:
            at = start_in(self._lineage, shard, earliest)
            return exactly(at, why="nothing was read since the query began there")
        since = planned_at(first)
        why = "at the tip in every batch that is kept: nothing was read since"
        return exactly(TIP if since is None else at_time(since), Basis.INFERRED, why)

    def _before_the_tip(self, shard: ShardId, position: Position) -> tuple[Batch, Position, bool]:
        """The newest place that is not LATEST, with its batch and whether that one's log exists.

        Going back over batches: where each ended, and where it began.
        """
        batch, known = self._checkpoint.batches[self._ids[-1]], True
        for number in reversed(self._ids):
            told, there = self._stated(shard, self._checkpoint.batches[number])
            for place in (told, self._checkpoint.batches[number].positions.get(shard)):
                if position.kind != LATEST:
                    return batch, position, known
                if place is not None and not is_foreign(self._lineage, shard, place):
                    batch, position, known = self._checkpoint.batches[number], place, there
        return batch, position, known

    def _born_since(self, shard: ShardId, first: Batch) -> bool:
        """Whether the shard appeared while the query was running. first: the first to name it.

        A batch after the oldest kept one names it first, or it opened more than `SLACK` seconds
        after the oldest was planned.
        """
        if first.id != self._ids[0]:
            return True
        opened = self._lineage.opened_at(shard) if shard in self._lineage else None
        since = planned_at(first)
        return opened is not None and since is not None and opened > since + SLACK

    def unnamed(self, shard: ShardId) -> Span:
        """The span of a listed shard that no retained batch names."""
        opened, closed = self._lineage.opened_at(shard), self._lineage.closed_at(shard)
        if self._lineage.is_open(shard):
            return _NEVER_NAMED
        if not self._ids or self._since is None:
            return _UNTOLD
        if opened is not None and opened > self._since:
            return _CREATED_SINCE
        if closed is not None and closed > self._since + SLACK:
            return _NOT_IN_OLDEST
        if self._from_start:
            return _LISTED_AT_FIRST
        return _CLOSED_BEFORE_FIRST if self._whole else _CLOSED_BEFORE_OLDEST
