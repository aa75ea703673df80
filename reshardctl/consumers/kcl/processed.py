"""What a lease table proves to be processed, shard by shard.

A row is taken at its word. An absent row is judged by cause, because KCL deletes the rows of
finished shards once all their children have made progress (LeaseCleanupManager).

A lease's checkpoint is first judged against the lineage: read `positions` of it before the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property

from reshardctl.consumers.kcl.releases import App, Start
from reshardctl.consumers.kcl.rows import (
    AT_TIMESTAMP,
    LATEST,
    SHARD_END,
    TRIM_HORIZON,
    LeaseTable,
    Row,
)
from reshardctl.consumers.kcl.sync import has_hole
from reshardctl.consumers.sequence_numbers import (
    NumberKind,
    classify,
    earlier_incarnation,
    furthest,
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
    at_number,
    at_time,
    decode,
    exactly,
    index_of,
    is_number,
    shard_id,
    time_of,
)


class PositionKind(Enum):
    """What a row's position means."""

    END = "end"
    START = "start"
    LATEST = "latest"
    BY_TIME = "by-time"
    NUMBER = "number"
    AT_END = "at-end"
    """The shard's own EndingSequenceNumber, as a number."""
    FOREIGN = "foreign"
    """A number that no record of this shard has."""
    AHEAD = "ahead"
    """Inside the shard's range, but from the future: no record has it."""
    NONSENSE = "nonsense"


_SENTINELS = {
    SHARD_END: PositionKind.END,
    TRIM_HORIZON: PositionKind.START,
    LATEST: PositionKind.LATEST,
    AT_TIMESTAMP: PositionKind.BY_TIME,
}
_OF_NUMBERS = {
    # KCL asks AT a number, so the shard's starting number serves as well as a record's.
    NumberKind.START: PositionKind.NUMBER,
    NumberKind.INSIDE: PositionKind.NUMBER,
    NumberKind.AHEAD: PositionKind.AHEAD,
    NumberKind.AT_END: PositionKind.AT_END,
    NumberKind.NOT_A_NUMBER: PositionKind.NONSENSE,
}


def kinds_of(lineage: Lineage, table: LeaseTable) -> Mapping[ShardId, PositionKind]:
    """The kind of every row's position."""
    return {shard: kind_of(lineage, row) for shard, row in table.rows.items()}


def kind_of(lineage: Lineage, row: Row) -> PositionKind:
    """Classify one row. A number of an unlisted shard counts as its own."""
    if row.position in _SENTINELS:
        return _SENTINELS[row.position]
    kind = classify(lineage, row.shard, row.position or "")
    if kind is NumberKind.START:
        end = lineage[row.shard].end
        if end is not None and int(lineage[row.shard].start) >= int(end):
            return PositionKind.FOREIGN  # after the end, as an emulator has it
    return _OF_NUMBERS.get(kind, PositionKind.FOREIGN)


def cleaned_or_lost(lineage: Lineage, rows: Mapping[ShardId, Row]) -> list[ShardId]:
    """Closed shards without a row that KCL may have cleaned up, or that are lost.

    All of their children are past their start, or one that names the shard as its parent.
    """
    over: set[ShardId] = set()
    begun = {shard for shard, row in rows.items() if _has_progress(lineage, row)}
    for shard in reversed(list(lineage)):
        children = lineage.children(shard)
        if shard in rows or not children or lineage.is_open(shard):
            continue
        waited = any(c in begun and shard in rows[c].parents for c in children)
        if waited or all(c in over or c in begun for c in children):
            over.add(shard)
    return [shard for shard in lineage if shard in over]


def _has_progress(lineage: Lineage, row: Row) -> bool:
    match kind_of(lineage, row):
        case PositionKind.END | PositionKind.AT_END:
            return True
        case PositionKind.NUMBER if row.shard in lineage:
            return int(row.position or "0") > int(lineage[row.shard].start)
        case _:
            return False


def begun_again(lineage: Lineage, rows: Iterable[Row]) -> bool:
    """Whether all listed shards' rows are free of old numbers and one is at an initial position.

    A fix of a recreated stream's table leaves it so until the application checkpoints.
    """
    listed = [row for row in rows if row.shard in lineage]
    begun = any(row.position in (TRIM_HORIZON, LATEST) for row in listed)
    return begun and not any(earlier_incarnation(lineage, row.position or "") for row in listed)


def wrong_parents(lineage: Lineage, row: Row) -> frozenset[ShardId]:
    """Shards wrongly named as parents; KCL waits for their leases (BlockOnParentShardTask).

    Of a shard that is not listed the parents are not known, but they were there before it, and had
    closed when it opened.
    """
    if row.shard not in lineage:
        return frozenset(shard for shard in row.parents if _too_young(lineage, row.shard, shard))
    own = lineage[row.shard].parents
    return frozenset(shard for shard in row.parents if shard in lineage and shard not in own)


def _too_young(lineage: Lineage, shard: ShardId, parent: ShardId) -> bool:
    """Whether the first, which is not listed, cannot be a child of the second: ids grow."""
    if parent in lineage and lineage.is_open(parent):
        return True
    index, above = index_of(shard), index_of(parent)
    return index is not None and above is not None and above >= index


def cut_of(row: Row, app: App) -> Cut:
    """The cut that a readable position means."""
    match row.position:
        case "TRIM_HORIZON" | None:
            return START
        case "LATEST":
            return TIP
        case "AT_TIMESTAMP":
            return at_time(app.time)
        case "SHARD_END":
            return DONE
        case number:
            return at_number(number, row.sub)


def processed(lineage: Lineage, table: LeaseTable, app: App) -> dict[ShardId, Span]:
    """Returns a span for every listed shard and every row; an empty table proves nothing."""
    rows = _Present(lineage, table, app)
    absent = _Absent(lineage, table, rows)
    line = {shard: rows.span(row) for shard, row in table.rows.items() if shard not in lineage}
    for shard in lineage:
        row = table.rows.get(shard)
        line[shard] = absent.span(shard) if row is None else rows.span(row)
    return line


class _Present:
    """What rows prove. Only LATEST needs the rest of the table to be understood."""

    def __init__(self, lineage: Lineage, table: LeaseTable, app: App) -> None:
        self._lineage, self._table, self._app = lineage, table, app
        self._kinds = lineage.memo(kinds_of, lineage, table)
        self._spans: dict[ShardId, Span] = {}
        self._untouched = _untouched(lineage, table)

    def span(self, row: Row) -> Span:
        """What one row proves of its shard."""
        if (span := self._spans.get(row.shard)) is None:
            span = self._spans[row.shard] = self._span(row)
        return span

    def _span(self, row: Row) -> Span:
        unknown = Span(START, furthest(self._lineage, row.shard))
        match self._kinds[row.shard]:
            case PositionKind.END:
                if row.shard in self._lineage and self._lineage.is_open(row.shard):
                    return Span(START, TIP, Basis.INFERRED, "marked as finished while it is open")
                return exactly(DONE)
            case PositionKind.START:
                return self._at(row, START)
            case PositionKind.NUMBER:
                assert row.position is not None
                return self._at(row, at_number(row.position, row.sub))
            case PositionKind.AHEAD:
                assert row.position is not None
                why = "its number lies in the future, and is of no record"
                return Span(START, at_number(row.position, row.sub), Basis.INFERRED, why)
            case PositionKind.AT_END:
                return exactly(DONE, why="its position is the shard's EndingSequenceNumber")
            case PositionKind.BY_TIME:
                if self._app.initial is not Start.AT_TIMESTAMP:
                    return unknown
                since = at_time(self._app.time)
                if row.shard in self.read_elsewhere:
                    return Span(since, unknown.hi, Basis.INFERRED, _READ_ELSEWHERE)
                return exactly(since)
            case PositionKind.LATEST:
                return self._of_latest(row)
            case PositionKind.FOREIGN | PositionKind.NONSENSE:
                return unknown

    def _at(self, row: Row, cut: Cut) -> Span:
        """A row is taken at its word, but for what another's row says of its shard beyond that."""
        further = self.read_elsewhere.get(row.shard, cut)
        if further <= cut:
            return exactly(cut)
        return Span(cut, further, Basis.INFERRED, _READ_ELSEWHERE)

    def _of_latest(self, row: Row) -> Span:
        """What LATEST proves; KCL writes it at a bootstrap or for a hole, never at a shard's end.

        On a descendant of a leased shard, or where a stored number is older, it cannot come from a
        bootstrap, which starts open shards only. On a root, or where nothing was ever read, it is
        the choice of an application that starts at LATEST, unless the rows show that the shard was
        read. Otherwise it may be either.
        """
        tip = furthest(self._lineage, row.shard)
        known = self._lineage[row.shard].parents if row.shard in self._lineage else ()
        named = set(known) | (row.parents - wrong_parents(self._lineage, row))
        by_choice = self._app.initial is Start.LATEST
        root = by_choice and not named
        leased = not named.isdisjoint(self._table.rows) or self._below_a_lease(row.shard)
        if row.shard in self.read_elsewhere:
            return Span(START, tip, Basis.INFERRED, _READ_ELSEWHERE)
        if not root and (leased or self._ran_before(row.shard)):
            return exactly(START, why="no record of it was ever checkpointed")
        if root or (by_choice and self._untouched):
            if tip == DONE:
                why = "closed before anything of it was checkpointed"
                return Span(START, DONE, Basis.INFERRED, why)
            if _was_read(row):
                return Span(START, tip, Basis.INFERRED, "LATEST although it was read before")
            return exactly(tip, why="LATEST by the application's choice")
        return Span(START, tip, Basis.INFERRED, "LATEST of a bootstrap or of a refilled hole")

    def _below_a_lease(self, shard: ShardId) -> bool:
        above = self._lineage.ancestors(shard) if shard in self._lineage else set()
        return not above.isdisjoint(self._table.rows)

    def _ran_before(self, shard: ShardId) -> bool:
        """Whether a stored number is older than the shard: the application ran at its creation."""
        opened = self._lineage.opened_at(shard) if shard in self._lineage else None
        return opened is not None and self._oldest is not None and self._oldest < opened

    @cached_property
    def read_elsewhere(self) -> Mapping[ShardId, Cut]:
        """The furthest record of a shard that another's row holds the number of.

        As after a swap or a copy.
        """
        found: dict[ShardId, Cut] = {}
        for row in (*self._table.rows.values(), *self._table.keyed_otherwise()):
            decoded = decode(row.position) if row.position else None
            home = shard_id(decoded.shard) if decoded else row.shard
            if home != row.shard and home in self._lineage and (
                classify(self._lineage, home, row.position or "") is NumberKind.INSIDE
            ):
                cut = at_number(row.position or "")
                found[home] = max(found.get(home, cut), cut)
        return found

    @cached_property
    def _oldest(self) -> int | None:
        """The time of the oldest number stored; only rows at LATEST are judged by it."""
        times = (time_of(row.position) for row in self._table.rows.values() if row.position)
        return min((time for time in times if time is not None), default=None)


def _was_read(row: Row) -> bool:
    """Whether the row shows that its shard was read.

    It has a number prepared for a checkpoint, a sub-sequence number, which KCL writes beside
    numbers only, or children, named at its end.
    """
    prepared = row.pending is not None and is_number(row.pending)
    return prepared or row.sub != 0 or bool(row.children)


def _untouched(lineage: Lineage, table: LeaseTable) -> bool:
    """Whether nothing was ever read or lost: leases over the whole hash space, all at LATEST.

    Except for rows that a fix has moved back: roots that closed before their first checkpoint, and
    shards that wait for them.
    """
    return all(
        (row.position == "LATEST" and _bootstrapped(lineage, row.shard))
        or (row.position == "TRIM_HORIZON" and _moved_back(lineage, table, row.shard))
        for row in table.rows.values()
    ) and not has_hole(
        (lineage[shard].hash_start, lineage[shard].hash_end) for shard in table.rows
    )


def _bootstrapped(lineage: Lineage, shard: ShardId) -> bool:
    return shard in lineage and (lineage.is_open(shard) or not lineage.parents(shard))


def _moved_back(lineage: Lineage, table: LeaseTable, shard: ShardId) -> bool:
    if shard not in lineage:
        return False
    if not lineage.is_open(shard) and not lineage.parents(shard):
        return True
    return any(parent in table.rows for parent in lineage.parents(shard))


_READ_ELSEWHERE = "another row holds the number of one of its records"
_COMES = exactly(START, Basis.INFERRED, "its lease comes when its parents end")
_CLEANED_UP = exactly(DONE, Basis.INFERRED, "its children have progressed: cleaned up")
_WAITED_FOR = exactly(DONE, Basis.INFERRED, "what waits for its end was read")


class _Absent:
    """Causes of absent rows, computed once for the whole lineage."""

    def __init__(self, lineage: Lineage, table: LeaseTable, rows: _Present) -> None:
        self._lineage, self._table, self._rows = lineage, table, rows
        self._over: set[ShardId] = set()
        """Shards that a reader waited for and passed, and those cleaned up."""
        self._kinds = lineage.memo(kinds_of, lineage, table)
        self._waiting = {shard for shard, row in table.rows.items() if not row.ended}
        """Shards whose lease has not ended, or comes once those of their parents have.

        An unlisted shard creates no children, so it is no parent here.
        """
        self._progressed = {
            shard for shard, row in table.rows.items() if self._has_progressed(row)
        }
        """Shards whose lease is past its start, and those cleaned up because their children are."""
        self._unmade: set[ShardId] = set()
        """Shards whose lease never existed: no parent's end has made it, or the parents' own."""
        absent = [shard for shard in lineage if shard not in table.rows]
        for shard in absent:
            if self._awaits_a_parent(shard):
                self._waiting.add(shard)
            if self._never_made(shard):
                self._unmade.add(shard)
        for shard in reversed(absent):
            children = lineage.children(shard)
            if self._all_progressed(children):
                self._progressed.add(shard)
                self._over.add(shard)
            elif self._held_back_a_reader(children, shard):
                self._over.add(shard)

    def span(self, shard: ShardId) -> Span:
        """What is processed in a listed shard without a lease."""
        if shard in self._rows.read_elsewhere and shard in self._waiting | self._unmade:
            tip = furthest(self._lineage, shard)
            return Span(START, tip, Basis.INFERRED, _READ_ELSEWHERE)
        if shard in self._waiting:
            return _COMES
        if shard in self._progressed:
            return _CLEANED_UP
        if shard in self._over:
            return _WAITED_FOR
        if shard in self._unmade:
            why = "the leases above it are there, its own never was"
            return exactly(START, Basis.INFERRED, why)
        return Span(START, furthest(self._lineage, shard), Basis.INFERRED, "its lease is lost")

    def _awaits_a_parent(self, shard: ShardId) -> bool:
        """Whether an unfinished ancestor will create its lease."""
        return not self._waiting.isdisjoint(self._lineage.parents(shard))

    def _all_progressed(self, children: Sequence[ShardId]) -> bool:
        """Whether a parent of these children was cleaned up; one without children never is."""
        return bool(children) and self._progressed.issuperset(children)

    def _has_progressed(self, row: Row) -> bool:
        """KCL's own test for cleaning up a parent, except for rows that prove nothing.

        Those are AT_TIMESTAMP, LATEST where no bootstrap wrote it, the shard's own
        StartingSequenceNumber and numbers of other shards. A fix moves those back to the beginning,
        and its result must prove no less than the rows before it.
        """
        return not self._at_its_start(row) and self._rows.span(row).lo != START

    def _at_its_start(self, row: Row) -> bool:
        """Whether the row may have been created at its position, before any record was read."""
        match self._kinds[row.shard]:
            case PositionKind.BY_TIME:
                return True
            case PositionKind.NUMBER if row.shard in self._lineage:
                return int(row.position or "") == int(self._lineage[row.shard].start)
            case _:
                return False

    def _never_made(self, shard: ShardId) -> bool:
        """Whether a parent has a lease and none names the shard, or no parent ever had one.

        ShutdownTask writes childShardIds only after the children's leases exist, so a named lease
        existed and is lost.
        """
        parents = self._lineage[shard].parents
        rows = [r for p in parents if (r := self._table.rows.get(p))]
        if not rows:
            return bool(parents) and self._unmade.issuperset(parents)
        return not any(shard in row.children for row in rows)

    def _held_back_a_reader(self, children: Iterable[ShardId], shard: ShardId) -> bool:
        """Whether a child that waits for the shard has progressed, or was itself processed."""
        for child in children:
            row = self._table.rows.get(child)
            if row is None and child in self._over:
                return True
            if row is not None and shard in row.parents and child in self._progressed:
                return True
        return False
