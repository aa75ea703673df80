"""What the tables prove to be processed, shard by shard.

The library deletes no checkpoint and orders nothing: a shard without a row was never read, and
progress in a child proves nothing of its parents.
"""

from __future__ import annotations

from reshardctl.consumers.kinsumer.app import App
from reshardctl.consumers.kinsumer.positions import PositionKind, beginning, cut_of, kind_of
from reshardctl.consumers.kinsumer.rows import LATEST, Row, Tables
from reshardctl.consumers.related_shards import below
from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Basis, Frontier, ShardId, Span, at_number, exactly

_OVER = exactly(DONE)


def processed(lineage: Lineage, tables: Tables, app: App) -> Frontier:
    """A span for every listed shard and every row."""
    shards = tables.shards(lineage)
    return {shard: _span(lineage, tables, app, shard) for shard in shards}


def _span(lineage: Lineage, tables: Tables, app: App, shard: ShardId) -> Span:
    row = tables.rows.get(shard)
    if row is None:
        return _unread(lineage, tables, app, shard)
    if "SequenceNumber" in row.mistyped:
        return Span(START, furthest(lineage, shard))
    if row.finished is not None:
        return _finished(lineage, row, app)
    span = _at_its_word(lineage, tables, row, app)
    if "Finished" in row.mistyped:
        return Span(span.lo, furthest(lineage, shard))
    return span


def _finished(lineage: Lineage, row: Row, app: App) -> Span:
    if row.shard not in lineage or not lineage.is_open(row.shard):
        return _OVER
    at = cut_of(lineage, row, app)
    if kind_of(lineage, row) is PositionKind.NUMBER and at is not None:
        return exactly(at)
    return Span(START, TIP, Basis.INFERRED, "marked as finished while it is open")


def _at_its_word(lineage: Lineage, tables: Tables, row: Row, app: App) -> Span:
    match kind_of(lineage, row):
        case PositionKind.UNREAD:
            return _unread(lineage, tables, app, row.shard)
        case PositionKind.LATEST:
            return _of_latest(lineage, tables, row)
        case PositionKind.AT_END:
            return exactly(DONE, why="its position is the shard's EndingSequenceNumber")
        case PositionKind.AHEAD:
            why = "its number lies in the future, and is of no record"
            return Span(START, at_number(row.number or ""), Basis.INFERRED, why)
        case PositionKind.FOREIGN | PositionKind.NONSENSE:
            return Span(START, furthest(lineage, row.shard))
        case PositionKind.START | PositionKind.NUMBER:
            at = cut_of(lineage, row, app)
            assert at is not None
            return exactly(at)


def _unread(lineage: Lineage, tables: Tables, app: App, shard: ShardId) -> Span:
    """The span of a shard that was never read; a start by time holds for roots, not below."""
    if shard in tables.once("below rows", (lineage,), lambda: below(lineage, tables.rows)):
        return exactly(START)
    return exactly(beginning(lineage, shard, app))


def _of_latest(lineage: Lineage, tables: Tables, row: Row) -> Span:
    """The span of LATEST, which only a bootstrap or an operator writes.

    Below a shard that was read, LATEST skips what was written before each start, until a record is
    acknowledged.
    """
    below_read = tables.once("below read rows", (lineage,), lambda: below(
        lineage, {shard for shard, row in tables.rows.items() if _was_read(row)}
    ))
    if row.shard in below_read:
        return exactly(START, why="no record of it was ever acknowledged")
    if furthest(lineage, row.shard) == DONE:
        why = "closed before anything of it was acknowledged"
        return Span(START, DONE, Basis.INFERRED, why)
    return exactly(TIP, why="LATEST by choice: a bootstrap or an operator wrote it")


def _was_read(row: Row) -> bool:
    return row.number not in (None, LATEST) and not row.set_aside
