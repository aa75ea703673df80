"""Positions as Spark's files spell them, as cuts and back, and one source's offset of them.

Apart from any connector's syntax, whichever source wrote them.

`AT n` means that everything before record n is processed; `AFTER n` with `last` false means that a
part of the aggregated record n is: cuts before the record's end, by their negative `sub`. Kinesis
takes no other number than a record's, so neither is spelled by the number before it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.sequence_numbers import of_no_record, to_come
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

TRIM_HORIZON = "TRIM_HORIZON"
LATEST = "LATEST"
AT_TIMESTAMP = "AT_TIMESTAMP"
AT_SEQUENCE_NUMBER = "AT_SEQUENCE_NUMBER"
AFTER_SEQUENCE_NUMBER = "AFTER_SEQUENCE_NUMBER"
SHARD_END = "SHARD_END"

KINDS = frozenset(
    {TRIM_HORIZON, LATEST, AT_TIMESTAMP, AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, SHARD_END}
)
"""The iterator types of the connectors (KinesisPosition.scala of Qubole 1.2.0 and awslabs 2.0)."""

NUMBERED = frozenset({AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER})


class Position(Struct, frozen=True):
    """One position as it is spelled.

    Attributes:
        kind: One of KINDS.
        value: The number, the milliseconds since 1970 of AT_TIMESTAMP, else as stored.
        sub: awslabs' index inside an aggregated record.
        last: Whether that is the record's last one.
        quiet: Unix seconds as of which no record followed, where the source notes that.
    """

    kind: str
    value: str = ""
    sub: int = -1
    last: bool = True
    quiet: float | None = None


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


PLAIN = frozenset(KINDS | {"metadata", "offsets", "commits", "sources", "state"})


class Flaw(Struct, frozen=True):
    """What is wrong with an offset.

    Attributes:
        raw: The text.
        shard: Whose position it is, `None` for the offset as a whole.
        fatal: Whether its own source cannot read it.
    """

    why: str
    raw: str
    shard: ShardId | None = None
    fatal: bool = True

    @property
    def where(self) -> str:
        """The reason, with the shard."""
        return f"{self.shard}: {self.why}" if self.shard else self.why


class SourceOffset(Struct, frozen=True):
    """An offset as read.

    Attributes:
        connector: The source that writes this shape, "unknown" for a connector's without shards.
        stream: The stream's name, "" where the offset holds none.
        batch_id: The connectors' own id, by which their log is filed, `None` where there is none.
        positions: Also those of a flawed offset that could be read.
        created: Unix seconds at which its stream was created, where the offset says.
    """

    connector: str
    stream: str
    batch_id: int | None
    positions: Mapping[ShardId, Position]
    flaws: tuple[Flaw, ...] = ()
    created: float | None = None

    @property
    def broken(self) -> str:
        """Why its source cannot read it, "" where it can."""
        return next((flaw.where for flaw in self.flaws if flaw.fatal), "")
