"""What an audit has counted: the only thing that its findings, pages and rebuilt lines rest on.

Times are Unix seconds. A record's place is its sequence number as the sink or the stream spells it
and, of an aggregated record, the place inside it. Facts are as large as the lineage, not as the
sink: a line or a few a shard, never a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from reshardctl.model import ShardId


@dataclass(frozen=True, slots=True)
class Record:
    """One record's place and, where it is known, its arrival."""

    number: str
    sub: int = 0
    arrival: float | None = None


@dataclass(frozen=True, slots=True)
class InSink:
    """What a sink holds of one shard. first, last: the lowest and the highest record.

    doubled: records that are there more than once; extra: rows beyond the first of each.
    disordered: rows that came behind a later record of the same key; `None` where nothing in the
    sink tells in which order its rows came.
    proven: the record up to which the sink's own commits prove it whole, if they do; proof: how.
    """

    shard: ShardId
    rows: int
    first: Record
    last: Record
    doubled: int = 0
    extra: int = 0
    disordered: int | None = None
    proven: Record | None = None
    proof: str = ""


class Fault(StrEnum):
    """Why a row cannot be laid to a shard of this stream."""

    NO_NUMBER = "no number"
    """Null, or empty."""
    NOT_NUMERIC = "not numeric"
    ODD_LENGTH = "odd length"
    """Digits, but not 56, in a stream whose numbers are of Kinesis' own layout. Where an emulator
    gave them, shorter ones are padded, and only more digits than the stream's own are odd."""
    OTHER_STREAM = "other stream"
    """The column for the stream names another one."""
    OTHER_INCARNATION = "other incarnation"
    """A shard of this id, but a number older than the stream."""
    UNKNOWN_SHARD = "unknown shard"
    """No shard has it: its index is beyond the newest one that is listed."""
    NOT_ITS_SHARD = "not its shard"
    """The column for the shard says another shard than the number does."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """Rows with one fault. samples: a few of their numbers, as they are spelled."""

    fault: Fault
    rows: int
    shard: ShardId | None = None
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """One shard's window, read from the stream and looked for in the sink.

    since, until: the first and the last record read, `None` where none was. read, missing: records.
    whole: the window begins at the shard's own beginning, not only at what retention has left.
    ended: it was read to the shard's end; tip: to its tip (an open shard). Neither: the read was
    cut short, and `short` says why.
    before_missing: the record before the first missing one; `None` where none was read before it.
    """

    shard: ShardId
    read: int
    missing: int
    since: Record | None = None
    until: Record | None = None
    whole: bool = False
    ended: bool = False
    tip: bool = False
    short: str = ""
    first_missing: Record | None = None
    last_missing: Record | None = None
    before_missing: Record | None = None


UP_TO_A_TIME = "it was to be read up to a time only"
"""Why a read is short that nothing but the wish of the operator cut."""


FAILED = "the read failed: "
"""How a shard's `short` begins that was not read for another reason than that records are gone:
whoever may read, or asks again, can tell more."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A stretch of one shard's time: rows in the sink, records lost, rows doubled."""

    shard: ShardId
    since: float
    seconds: float
    rows: int
    missing: int = 0
    extra: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything counted. sink: as it was named; form: parquet, delta, json, csv, table, frame.

    rows: all rows, the unusable included. ordered_by: the column that told the order of arrival,
    "" where none did. compared: empty where the stream was not read. keys: missing or offending
    partition keys were not asked for, or a table has them; they are never in here.
    changed: how the sink changed while it was read, "" where it did not.
    taken: when the reading began. since, until: the stretch of time of which the stream was to be
    read, `None` for all that is left of it. batch: the last that Spark's file sink has in its log,
    `None` where there is no such log.
    """

    sink: str
    form: str
    taken: float
    rows: int
    shards: Mapping[ShardId, InSink] = field(default_factory=dict)
    unusable: tuple[Unusable, ...] = ()
    compared: Mapping[ShardId, Compared] = field(default_factory=dict)
    buckets: tuple[Bucket, ...] = ()
    ordered_by: str = ""
    changed: str = ""
    notes: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    batch: int | None = None
