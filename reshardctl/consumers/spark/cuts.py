"""Converts positions as Spark's files spell them to cuts, and cuts to positions.

`AT n` means that everything before record n is processed; `AFTER n` with `last` false means that a
part of the aggregated record n is: cuts before the record's end, by their negative `sub`. Kinesis
takes no other number than a record's, so neither is spelled by the number before it.
"""

from __future__ import annotations

from dataclasses import replace

from reshardctl.consumers.sequence_numbers import of_no_record, to_come
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    LATEST,
    NUMBERED,
    SHARD_END,
    TRIM_HORIZON,
    Position,
)
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cut,
    Rank,
    ShardId,
    at_number,
    at_time,
)
from reshardctl.model.cuts import PARTS

BEGINNING = Position(TRIM_HORIZON)
END = Position(SHARD_END)


def cut_of(position: Position) -> Cut:
    """The cut that a position means. Parsing has checked numbers and times."""
    cut = _cut(position)
    return cut if position.quiet is None else replace(cut, quiet=position.quiet)


def start_in(lineage: Lineage, shard: ShardId, position: Position) -> Cut:
    """The cut of a start; a time before the shard's creation is the shard's beginning."""
    cut = cut_of(position)
    opened = lineage.opened_at(shard) if cut.time is not None and shard in lineage else None
    return START if opened is not None and cut.time is not None and cut.time <= opened else cut


def _cut(position: Position) -> Cut:
    match position.kind:
        case "TRIM_HORIZON":
            return START
        case "SHARD_END":
            return DONE
        case "LATEST":
            return TIP
        case "AT_TIMESTAMP":
            return at_time(int(position.value) / 1000)
        case _:
            return _numbered(position)


def _numbered(position: Position) -> Cut:
    """The cut of a position that is spelled as a sequence number."""
    before = position.kind == AT_SEQUENCE_NUMBER
    if not before and (position.last or position.sub < 0):
        return at_number(position.value)
    processed = position.sub if before else position.sub + 1
    return at_number(position.value, max(processed, 0) - PARTS)


def position_at(cut: Cut) -> Position | None:
    """A position that starts at the cut, `None` for an end, after which nothing is read.

    A cut inside an aggregated record is rounded down to before the record.
    """
    if cut.rank is Rank.START:
        return BEGINNING
    if cut.rank is Rank.DONE:
        return None
    if cut.rank is Rank.TIP or (cut.time is None and cut.by_time):
        return Position(LATEST)
    if cut.by_time:
        assert cut.time is not None
        return Position(AT_TIMESTAMP, str(round(cut.time * 1000)))
    kind = AT_SEQUENCE_NUMBER if cut.sub < 0 else AFTER_SEQUENCE_NUMBER
    return Position(kind, cut.text or str(cut.number))


def is_at_end(lineage: Lineage, shard: ShardId, position: Position) -> bool:
    """Whether the position is AFTER the shard's EndingSequenceNumber, which no record has."""
    if position.kind != AFTER_SEQUENCE_NUMBER or shard not in lineage:
        return False
    return int(position.value) == lineage.last_number(shard)


def is_foreign(lineage: Lineage, shard: ShardId, position: Position) -> bool:
    """Whether Kinesis refuses the position for this shard, so that all three connectors crash."""
    if is_ahead(lineage, shard, position):
        return True
    if position.kind not in NUMBERED or shard not in lineage:
        return False
    number = int(position.value)
    start, end = lineage.first_number(shard), lineage.last_number(shard)
    if of_no_record(lineage, shard, number):
        return True
    return (start is not None and number < start) or (end is not None and number >= end)


def is_ahead(lineage: Lineage, shard: ShardId, position: Position) -> bool:
    """Whether the position is a time to come, which Kinesis refuses until then."""
    by_time = position.kind == AT_TIMESTAMP and shard in lineage
    return by_time and to_come(lineage, int(position.value) / 1000)


def spelled(position: Position) -> str:
    """A position as text for reports."""
    if position.kind not in NUMBERED:
        return f"{position.kind} {position.value}".rstrip()
    sub = f"/{position.sub}" if position.sub >= 0 else ""
    return f"{position.kind} {position.value}{sub}"
