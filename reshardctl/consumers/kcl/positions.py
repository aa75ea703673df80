"""What a lease's checkpoint says about its shard, judged against the lineage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from reshardctl.consumers.kcl.rows import AT_TIMESTAMP, LATEST, SHARD_END, TRIM_HORIZON, Row
from reshardctl.consumers.sequence_numbers import from_the_future, of_no_record
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, decode, index_of

CREATION_SLACK = 60
"""Seconds: a root's first number was seen to carry its stream's creation time less three."""


class Standing(Enum):
    """Where a row stands."""

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
    """Inside the shard's range, and from the future: of no record."""
    NONSENSE = "nonsense"


_SENTINELS = {
    SHARD_END: Standing.END,
    TRIM_HORIZON: Standing.START,
    LATEST: Standing.LATEST,
    AT_TIMESTAMP: Standing.BY_TIME,
}


def standing(lineage: Lineage, row: Row) -> Standing:
    """Classify one row. A number of an unlisted shard is taken at its word."""
    if row.position is None or not row.understood:
        return Standing.NONSENSE
    if row.position in _SENTINELS:
        return _SENTINELS[row.position]
    number, decoded = int(row.position), decode(row.position)
    if decoded is not None and decoded.shard != index_of(row.shard):
        return Standing.FOREIGN
    if row.shard not in lineage:
        future = from_the_future(lineage, row.position)
        return Standing.AHEAD if future else Standing.NUMBER
    shard = lineage[row.shard]
    if number < int(shard.start) or of_no_record(lineage, shard, row.position):
        return Standing.FOREIGN
    if shard.end is not None and number >= int(shard.end):
        return Standing.AT_END if number == int(shard.end) else Standing.FOREIGN
    return Standing.AHEAD if from_the_future(lineage, row.position) else Standing.NUMBER


def earlier_incarnation(lineage: Lineage, row: Row) -> bool:
    """Whether the row's number was written before this stream was created."""
    decoded = decode(row.position) if row.position else None
    return decoded is not None and decoded.time < lineage.stream.created - CREATION_SLACK


def cleaned_or_lost(lineage: Lineage, rows: Mapping[ShardId, Row]) -> list[ShardId]:
    """Closed shards without a row, whose children have come further than their beginning: all of
    them, or one that names the shard as its parent."""
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
    match standing(lineage, row):
        case Standing.END | Standing.AT_END:
            return True
        case Standing.NUMBER if row.shard in lineage:
            return int(row.position or "0") > int(lineage[row.shard].start)
        case _:
            return False


def begun_again(lineage: Lineage, rows: Iterable[Row]) -> bool:
    """Whether the rows of listed shards were put to a beginning, and only others hold old numbers:
    what a fix of a recreated stream's table leaves until the application checkpoints."""
    listed = [row for row in rows if row.shard in lineage]
    begun = any(row.position in (TRIM_HORIZON, LATEST) for row in listed)
    return begun and not any(earlier_incarnation(lineage, row) for row in listed)


def of_another_stream(lineage: Lineage, row: Row) -> bool:
    """Whether the row's number is younger than this stream and fits none of its shards.

    A number of another shard of the same stream fits that shard's range; one of a shard that is
    no longer listed cannot be checked and gets the benefit of the doubt.
    """
    decoded = decode(row.position) if row.position else None
    if decoded is None or row.position is None or earlier_incarnation(lineage, row):
        return False
    home = ShardId(f"shardId-{decoded.shard:012d}")
    if home not in lineage:
        return decoded.shard > lineage.newest_index()
    shard, number = lineage[home], int(row.position)
    beyond = shard.end is not None and number > int(shard.end)
    return number < int(shard.start) or beyond


def of_wrong_stream(lineage: Lineage, rows: Sequence[Row]) -> Row | None:
    """A row whose number is of a younger stream, where no row's number is of this one. Beside rows
    of this stream it is one wrong row, which must not hide the others."""
    own = (Standing.NUMBER, Standing.AT_END)
    if any(row.shard in lineage and standing(lineage, row) in own for row in rows):
        return None
    return next((row for row in rows if of_another_stream(lineage, row)), None)


def wrong_parents(lineage: Lineage, row: Row) -> frozenset[ShardId]:
    """Listed shards that the row names as parents and that are none of its shard's, perhaps itself.

    KCL waits for whatever the attribute names (BlockOnParentShardTask)."""
    if row.shard not in lineage:
        return frozenset()
    own = lineage[row.shard].parents
    return frozenset(shard for shard in row.parents if shard in lineage and shard not in own)


def unborn(lineage: Lineage, shard: ShardId) -> bool:
    """Whether a shard of this id is still to come: ids grow, and this one is beyond the last."""
    index = index_of(shard)
    return index is not None and shard not in lineage and index > lineage.newest_index()
