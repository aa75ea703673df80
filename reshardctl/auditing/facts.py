"""What an audit has counted; its findings, pages and rebuilt frontiers rest on nothing else.

Times are Unix seconds. A record is identified by its sequence number as the sink or the stream
spells it and, in an aggregated record, its index. Facts are as large as the lineage, not as the
sink: a few values a shard, never a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from reshardctl.model import ShardId


class Record(Struct, frozen=True):
    """A record's number and, where it is known, its arrival."""

    number: str
    sub: int
    arrival: float | None = None


class InSink(Struct, frozen=True):
    """What a sink holds of one shard.

    Attributes:
        first: The lowest record.
        last: The highest record.
        doubled: Records that are there more than once.
        extra: Rows beyond the first of each record.
        disordered: Rows that came after a later record of their key; `None` if no column shows it.
        proven: The record up to which the sink's own commits prove it complete, if they do.
        proof: How they prove it.
    """

    shard: ShardId
    rows: int
    first: Record
    last: Record
    doubled: int
    extra: int
    disordered: int | None = None
    proven: Record | None = None
    proof: str = ""


class Fault(StrEnum):
    """Why a row cannot be assigned to a shard of this stream."""

    NO_NUMBER = "no number"
    """Null, or empty."""
    NOT_NUMERIC = "not numeric"
    ODD_LENGTH = "odd length"
    """Digits, but not 56, in a stream whose numbers have Kinesis' own layout. An emulator's shorter
    ones are padded, and only numbers longer than the stream's own are faulty."""
    OTHER_STREAM = "other stream"
    """The column for the stream names another one."""
    OTHER_INCARNATION = "other incarnation"
    """A shard of this id, but a number older than the stream."""
    UNKNOWN_SHARD = "unknown shard"
    """No such shard: its index is beyond the newest listed one."""
    NOT_ITS_SHARD = "not its shard"
    """The column for the shard names another shard than the number does."""


class Unusable(Struct, frozen=True):
    """Rows with one fault. samples: a few of their numbers, as they are spelled."""

    fault: Fault
    rows: int
    shard: ShardId | None = None
    samples: tuple[str, ...] = ()


class Compared(Struct, frozen=True):
    """One shard's window, read from the stream and looked up in the sink.

    Attributes:
        read: Number of records read.
        missing: Number of them that are not in the sink.
        since: The first record read, `None` if none was.
        until: The last record read.
        whole: The window begins at the shard's start, not only at the oldest record left.
        ended: It was read to the shard's end.
        tip: It was read to the tip of an open shard.
        short: Why the read was cut short, if neither.
        before_missing: The record before the first missing one, `None` if none was read before it.
    """

    shard: ShardId
    read: int
    missing: int
    since: Record | None
    until: Record | None
    whole: bool
    ended: bool
    tip: bool
    short: str = ""
    first_missing: Record | None = None
    last_missing: Record | None = None
    before_missing: Record | None = None


UP_TO_A_TIME = "the read was limited to a time"
"""Why a read is short that only the operator's choice limits."""


FAILED = "the read failed: "
"""Prefix of `short` if the read failed although records are there: another attempt, or another
caller, may succeed."""


class Bucket(Struct, frozen=True):
    """An interval of one shard's time: rows in the sink, records lost, surplus rows."""

    shard: ShardId
    since: float
    seconds: float
    rows: int
    missing: int
    extra: int


class Facts(Struct, frozen=True):
    """Everything counted.

    Attributes:
        sink: As it was named.
        form: parquet, delta, json, csv, table or frame.
        taken: When the reading began.
        rows: All rows, the unusable ones included.
        compared: Empty if the stream was not read.
        ordered_by: The column that showed the order of arrival, "" if none did.
        changed: How the sink changed while it was read, "" if it did not.
        since: Beginning of the interval to be compared, `None` for all that is left.
        until: Its end.
        batch: The last batch in the log of Spark's file sink, `None` without such a log.
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
