"""Facts made by hand: a stream of four shards, and what a sink might hold of it.

0 and 1 are roots; 0 was split into 2 and 3 after a hundred seconds. Numbers are of layout v2
(tests/support/case.py says from which runs): record i of a shard has its own second and index
i + 1.
"""

from __future__ import annotations

from typing import TypedDict, Unpack

from msgspec.structs import replace

from reshardctl.auditing.facts import Bucket, Compared, Facts, InSink, Record, Unusable
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, Stream, shard_id
from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.shards import SequenceNumber

CREATED = 1_790_000_000
TAKEN = CREATED + 1000.0
HALF, QUARTER = "1/2", "1/4"
TOPOLOGY = {
    "name": "orders", "account": "123456789012", "region": "us-east-1", "created": CREATED,
    "retention_hours": 24, "mode": "PROVISIONED", "now": 1000,
    "shards": [
        {"id": 0, "range": ["0", HALF], "open": 0, "close": 100},
        {"id": 1, "range": [HALF, "1"], "open": 0},
        {"id": 2, "range": ["0", QUARTER], "parents": [0], "open": 100},
        {"id": 3, "range": [QUARTER, HALF], "parents": [0], "open": 100},
    ],
}
EPOCHS = {0: -3, 1: -3, 2: 101, 3: 101}
"""Of the numbers of each shard: three seconds before the creation, or a second after the split."""


class MoreInSink(TypedDict, total=False):
    """Fields of `InSink` that a test may set."""

    doubled: int
    extra: int
    disordered: int | None
    proven: Record | None
    proof: str


class HowRead(TypedDict, total=False):
    """How far a shard was read, in fields of `Compared`."""

    whole: bool
    ended: bool
    tip: bool
    short: str


class MoreCompared(HowRead, total=False):
    """Fields of `Compared` that a test may set."""

    missing: int
    first_missing: Record | None
    last_missing: Record | None


class AllButBuckets(TypedDict, total=False):
    """Fields of `Facts` that a test may set."""

    unusable: tuple[Unusable, ...]
    notes: tuple[str, ...]
    ordered_by: str
    changed: str
    since: float | None
    until: float | None
    batch: int | None


class MoreFacts(AllButBuckets, total=False):
    """The same with what a chart shows."""

    buckets: tuple[Bucket, ...]


def lineage(retention: int | None = None) -> Lineage:
    """The four shards. retention: the stream's, in seconds."""
    fake: FakeKinesis = load_topology(TOPOLOGY)
    listed = fake.call("ListShards", {"StreamName": "orders"})["Shards"]
    summary = fake.call("DescribeStreamSummary", {"StreamName": "orders"})
    found = summary["StreamDescriptionSummary"]
    one = Stream(
        found["StreamARN"], "orders", float(CREATED), found["RetentionPeriodHours"] * 3600,
        "ACTIVE",
    )
    kept = one if retention is None else replace(one, retention=retention)
    return Lineage.from_pages(kept, [listed])


def number(shard: int, at: int) -> str:
    """The number of a record that was put `at` seconds after the creation."""
    return str(SequenceNumber(CREATED + EPOCHS[shard], at, CREATED + at, shard))


def record(shard: int, at: int) -> Record:
    return Record(number(shard, at), 0, float(CREATED + at))


def inside(shard: int, first: int, last: int, rows: int = 10, **more: Unpack[MoreInSink]) -> InSink:
    return replace(
        InSink(shard_id(shard), rows, record(shard, first), record(shard, last), 0, 0), **more
    )


def compared(
    shard: int, read: int, first: int, last: int, **more: Unpack[MoreCompared]
) -> Compared:
    """Nothing missing, read to its end or tip, from its beginning."""
    one = Compared(
        shard_id(shard), read, 0, record(shard, first), record(shard, last), whole=True,
        ended=shard == 0, tip=shard != 0,
    )
    return replace(one, **more)


def lacking(
    shard: int, missing: int, first: int, last: int, **more: Unpack[HowRead]
) -> Compared:
    """Records missing, of twenty read."""
    return compared(
        shard, 20, 0 if shard < 2 else 101, 900, missing=missing,
        first_missing=record(shard, first), last_missing=record(shard, last), **more,
    )


def facts(
    *sink: InSink, against: tuple[Compared, ...] = (), rows: int | None = None,
    **more: Unpack[MoreFacts],
) -> Facts:
    """rows: of the whole sink; by default those of its shards."""
    counted = Facts(
        "/lake/orders", "parquet", TAKEN, sum(part.rows for part in sink) if rows is None else rows,
        {part.shard: part for part in sink}, compared={part.shard: part for part in against},
    )
    return replace(counted, **more)


def whole(**more: Unpack[AllButBuckets]) -> Facts:
    """A sink that has it all: nothing to find."""
    return facts(
        inside(0, 1, 90), inside(1, 2, 890), inside(2, 110, 880), inside(3, 120, 870),
        against=(compared(0, 10, 1, 90), compared(1, 10, 2, 890), compared(2, 10, 110, 880),
                 compared(3, 10, 120, 870)),
        buckets=(Bucket(shard_id(1), CREATED, 300.0, 10, 0, 0),),
        **more,
    )


def ids(*numbers: int) -> tuple[ShardId, ...]:
    return tuple(shard_id(one) for one in numbers)
