"""What a lease's checkpoint says about its shard, judged against the lineage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from reshardctl.consumers.kcl.app import App
from reshardctl.consumers.kcl.rows import (
    AT_TIMESTAMP,
    LATEST,
    SHARD_END,
    TRIM_HORIZON,
    LeaseTable,
    Row,
)
from reshardctl.consumers.sequence_numbers import NumberKind, classify, earlier_incarnation
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Cut, ShardId, at_number, at_time, index_of


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
    return table.once("kinds", (lineage,), lambda: {
        shard: kind_of(lineage, row) for shard, row in table.rows.items()
    })


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
