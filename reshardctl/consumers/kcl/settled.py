"""What a lease table proves to be settled, shard by shard.

A present row is taken at its word. An absent one is split by cause, because KCL deletes the rows
of finished shards once all their children have made progress (LeaseCleanupManager).
"""

from __future__ import annotations

from reshardctl.consumers.kcl.app import App, Start
from reshardctl.consumers.kcl.positions import Standing, standing
from reshardctl.consumers.kcl.rows import LeaseTable, Row
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
    exactly,
    time_of,
)


def settled(lineage: Lineage, table: LeaseTable, app: App) -> dict[ShardId, Span]:
    """A span for every listed shard and every row. An empty table settles nothing."""
    absent = _Absent(lineage, table, app)
    line = {
        shard: _of_row(lineage, table, table.rows[shard], app)
        for shard in table.rows
        if shard not in lineage
    }
    for shard in lineage:
        row = table.rows.get(shard)
        line[shard] = (
            absent.span(shard) if row is None else _of_row(lineage, table, row, app)
        )
    return line


def furthest(lineage: Lineage, shard: ShardId) -> Cut:
    """The highest cut that anything can have settled in the shard by now."""
    return TIP if shard in lineage and lineage.is_open(shard) else DONE


def _of_row(lineage: Lineage, table: LeaseTable, row: Row, app: App) -> Span:
    unknown = Span(START, furthest(lineage, row.shard))
    match standing(lineage, row):
        case Standing.END:
            if row.shard in lineage and lineage.is_open(row.shard):
                return Span(START, TIP, Basis.INFERRED, "marked as finished while it is open")
            return exactly(DONE)
        case Standing.START:
            return exactly(START)
        case Standing.NUMBER:
            assert row.position is not None
            return exactly(at_number(row.position, row.sub))
        case Standing.AT_END:
            return exactly(DONE, why="its position is the shard's EndingSequenceNumber")
        case Standing.BY_TIME:
            return exactly(at_time(app.time)) if app.initial is Start.AT_TIMESTAMP else unknown
        case Standing.LATEST:
            return _of_latest(lineage, table, row, app)
        case Standing.FOREIGN | Standing.NONSENSE:
            return unknown


def _of_latest(lineage: Lineage, table: LeaseTable, row: Row, app: App) -> Span:
    """LATEST is written by a bootstrap or by the refill of a hole, and never at a shard's end.

    On a root, or where every lease still stands at LATEST, it is the application's own choice.
    On a child whose parent has a lease, or that is younger than a stored number, it cannot come
    from a bootstrap, which starts open shards only; otherwise it may be either.
    """
    tip = furthest(lineage, row.shard)
    untouched = all(other.position == "LATEST" for other in table.rows.values())
    named = row.parents | set(lineage.parents(row.shard))
    chosen = app.initial is Start.LATEST
    if untouched or (chosen and not named):
        if tip == DONE:
            why = "closed before anything of it was checkpointed"
            return Span(START, DONE, Basis.INFERRED, why)
        return exactly(tip, why="LATEST by the application's choice")
    if any(parent in table.rows for parent in named) or _ran_before(lineage, table, row.shard):
        return exactly(START, why="no record of it was ever checkpointed")
    return Span(START, tip, Basis.INFERRED, "LATEST of a bootstrap or of a refilled hole")


def _ran_before(lineage: Lineage, table: LeaseTable, shard: ShardId) -> bool:
    """Whether any stored number is older than the shard: the application ran before its birth."""
    opened = lineage.opened_at(shard) if shard in lineage else None
    if opened is None:
        return False
    times = (time_of(row.position) for row in table.rows.values() if row.position)
    return any(time is not None and time < opened for time in times)


class _Absent:
    """Causes of absent rows, worked out once for the whole lineage."""

    def __init__(self, lineage: Lineage, table: LeaseTable, app: App) -> None:
        self._lineage, self._table, self._app = lineage, table, app
        self._pending: dict[ShardId, bool] = {}
        self._cleaned: dict[ShardId, bool] = {}
        self._over: dict[ShardId, bool] = {}
        shards = list(lineage)
        for shard in shards:
            if shard not in table.rows:
                self._pending[shard] = self._awaits_a_parent(shard)
        for shard in reversed(shards):
            if shard not in table.rows:
                self._cleaned[shard] = self._all_children_progressed(shard)
                self._over[shard] = self._cleaned[shard] or self._held_back_a_reader(shard)

    def span(self, shard: ShardId) -> Span:
        """What is settled in a listed shard without a lease."""
        if self._pending[shard]:
            return exactly(START, Basis.INFERRED, "its lease comes when its parents end")
        if self._cleaned[shard]:
            return exactly(DONE, Basis.INFERRED, "its children have progressed: cleaned up")
        if self._over[shard]:
            return exactly(DONE, Basis.INFERRED, "what waits for its end was read")
        if self._never_made(shard):
            return exactly(START, Basis.INFERRED, "its parents' leases are there, its own never was")
        return Span(START, furthest(self._lineage, shard), Basis.INFERRED, "its lease is lost")

    def _awaits_a_parent(self, shard: ShardId) -> bool:
        """An unfinished ancestor will create it: a listed one, for an unlisted one ends blind."""
        for parent in self._lineage.parents(shard):
            row = self._table.rows.get(parent)
            if (row is None and self._pending[parent]) or (row is not None and not row.ended):
                return True
        return False

    def _all_children_progressed(self, shard: ShardId) -> bool:
        children = self._lineage.children(shard)
        return bool(children) and all(self._progressed(child) for child in children)

    def _progressed(self, shard: ShardId) -> bool:
        """KCL's own test for cleaning up a parent, with two differences. AT_TIMESTAMP counts:
        only a bootstrap writes it, which leaves earlier shards without a lease. LATEST counts
        only where it is a bootstrap's too: a refilled hole means that the parent was lost."""
        row = self._table.rows.get(shard)
        if row is None:
            return self._cleaned[shard]
        if row.position == "LATEST":
            return _of_latest(self._lineage, self._table, row, self._app).lo != START
        return row.understood and row.position != "TRIM_HORIZON"

    def _never_made(self, shard: ShardId) -> bool:
        """Whether a parent's lease stands and none names it: ShutdownTask writes childShardIds
        only once the children's leases are there, so a named one was there and is lost."""
        rows = [r for p in self._lineage[shard].parents if (r := self._table.rows.get(p))]
        return bool(rows) and not any(shard in row.children for row in rows)

    def _held_back_a_reader(self, shard: ShardId) -> bool:
        """Whether a child that waits for it has progressed, or was over itself."""
        for child in self._lineage.children(shard):
            row = self._table.rows.get(child)
            if row is None and self._over[child]:
                return True
            if row is not None and shard in row.parents and self._progressed(child):
                return True
        return False
