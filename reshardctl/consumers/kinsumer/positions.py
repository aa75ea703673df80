"""What a row says about its shard, judged against the lineage."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from reshardctl.consumers.kinsumer.app import App
from reshardctl.consumers.kinsumer.rows import LATEST, Row, Tables
from reshardctl.consumers.sequence_numbers import NumberKind, classify, furthest
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Cut, ShardId, at_number, at_time
from reshardctl.model.cuts import ARRIVAL_SLACK


class PositionKind(Enum):
    """What a row's position means, disregarding the finished mark."""

    UNREAD = "unread"
    """Never read: the application's start mode decides where it begins."""
    START = "start"
    """The shard's StartingSequenceNumber: from its beginning, whatever the start mode."""
    LATEST = "latest"
    NUMBER = "number"
    AT_END = "at-end"
    """The shard's own EndingSequenceNumber."""
    FOREIGN = "foreign"
    AHEAD = "ahead"
    """Inside the shard's range, but from the future: no record has it."""
    NONSENSE = "nonsense"


_OF_NUMBERS = {
    NumberKind.START: PositionKind.START,
    NumberKind.INSIDE: PositionKind.NUMBER,
    NumberKind.AHEAD: PositionKind.AHEAD,
    NumberKind.AT_END: PositionKind.AT_END,
    NumberKind.NOT_A_NUMBER: PositionKind.NONSENSE,
}
"""All others are foreign: refused at every start (runs of both, Nov 2026)."""


def kind_of(lineage: Lineage, row: Row) -> PositionKind:
    """Classify one row."""
    if row.number is None:
        return PositionKind.UNREAD
    if row.number == LATEST:
        return PositionKind.LATEST
    return _OF_NUMBERS.get(classify(lineage, row.shard, row.number), PositionKind.FOREIGN)


def beginning(lineage: Lineage, shard: ShardId, app: App) -> Cut:
    """Where a shard begins that was never read; by time perhaps at its start or its end."""
    if not app.by_time:
        return START
    opened = lineage.opened_at(shard) if shard in lineage else None
    closed = lineage.closed_at(shard) if shard in lineage else None
    if app.time is not None and opened is not None and opened >= app.time:
        return START
    if app.time is not None and closed is not None and closed + ARRIVAL_SLACK < app.time:
        return DONE
    return at_time(app.time)


def cut_of(lineage: Lineage, row: Row, app: App) -> Cut | None:
    """The cut that a position means, `None` for one that Kinesis refuses."""
    match kind_of(lineage, row):
        case PositionKind.UNREAD:
            return beginning(lineage, row.shard, app)
        case PositionKind.START:
            return START
        case PositionKind.LATEST:
            return furthest(lineage, row.shard)
        case PositionKind.NUMBER | PositionKind.AHEAD:
            return at_number(row.number or "")
        case PositionKind.AT_END:
            return DONE
        case PositionKind.FOREIGN | PositionKind.NONSENSE:
            return None


def stored_cut(lineage: Lineage, row: Row, app: App) -> Cut | None:
    """The cut that a row spells, `None` for one that names no place of its shard."""
    if row.mistyped or kind_of(lineage, row) is PositionKind.AHEAD:
        return None
    if row.finished is not None:
        return replace(DONE, text=row.number) if row.number else DONE
    return TIP if row.number == LATEST else cut_of(lineage, row, app)


def asked_first(lineage: Lineage, tables: Tables) -> frozenset[ShardId]:
    """The shards in the ShardCache, else all listed ones (refreshShards in kinsumer.go)."""
    if tables.cache is not None and tables.cache.shards:
        return frozenset(ShardId(shard) for shard in tables.cache.shards)
    return frozenset(lineage)
