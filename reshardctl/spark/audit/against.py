"""Compares the sink with its stream: which of the records that can still be read are missing.

One pass over both: records of the stream are joined with the sink's rows by number and index inside
an aggregate. Each record carries the one before it, so that the record before the first missing one
needs no second pass. The frame `missing` reads again, but only shards with missing records, and
only that part of them.

The stream is read as a frame of its records without their payload, or with it. A function over
Arrow batches of shards, not the data source `kinesis-lineage`: it runs on PySpark 3.5 as well, and
on a Connect server without registering anything. Executors need this package. Every end is fixed on
the driver first, so a frame that is computed twice has the same rows.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reshardctl.auditing.facts import FAILED, UP_TO_A_TIME, Compared, Fault, Record
from reshardctl.errors import CannotTell
from reshardctl.kinesis.fast import (
    Begin,
    FastReader,
    PastEnd,
    Reach,
    ShardGone,
    Start,
    TimeAhead,
    Unmet,
)
from reshardctl.kinesis.fast import (
    Record as StreamRecord,
)
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.audit.shards import Known, Slots
from reshardctl.spark.functions import F, table_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


AT_ONCE = 16
"""Shards that the driver or a task asks at the same time."""
A_TASK = 4
"""Shards of a task: it reads them side by side, and needs seconds of Python before the first."""
TASKS = 200
LATE = 600.0
"""Seconds; arrivals are not in the order of numbers, but none is later than this."""
COLUMNS = (
    "at INT, number STRING, sub BIGINT, key STRING, arrival DOUBLE, data BINARY,"
    " before STRING, before_sub BIGINT, before_arrival DOUBLE, short STRING"
)
"""before: the record before it in its shard. short: in a row without a number, why the read of the
shard was cut short."""


class Window(Struct, frozen=True):
    """What is read of one shard: from `begin` up to number `until`, or to its end.

    tip: whether `until` was its newest record. With neither, nothing is read.
    """

    shard: ShardId
    begin: Begin
    until: str | None
    to_end: bool
    tip: bool = False


class Stream(Struct, frozen=True):
    """The stream and the wanted interval, in Unix seconds by arrival."""

    reach: Reach
    name: str
    since: float | None = None
    until: float | None = None
    unpack: bool = True


def windows(stream: Stream, lineage: Lineage) -> list[Window]:
    """A window for every listed shard that existed in that time; asks each open one for its tip."""
    from reshardctl.spark.tips import Tips

    begin = Begin("TRIM_HORIZON")
    if stream.since is not None:
        begin = Begin("AT_TIMESTAMP", stream.since)
    lived = [shard for shard in lineage if _lived(lineage, shard, stream)]
    tips = Tips(FastReader(stream.reach, stream.name))
    asked = [shard for shard in lived if lineage.is_open(shard)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found_tips = dict(zip(asked, pool.map(tips.tip, asked), strict=True))
    return [
        Window(shard, begin, tip.number, to_end=False, tip=tip.quiet)
        if (tip := found_tips.get(shard)) is not None
        else Window(shard, begin, None, to_end=True)
        for shard in lived
    ]


def _lived(lineage: Lineage, shard: ShardId, stream: Stream) -> bool:
    opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
    early = stream.since is not None and closed is not None and closed + LATE < stream.since
    late = stream.until is not None and opened is not None and opened - LATE > stream.until
    return not early and not late


def records(
    spark: SparkSession, stream: Stream, windows_by_at: Mapping[int, Window], *, data: bool = False
) -> DataFrame:
    """COLUMNS, by the shards' `at`. data: whether payloads are wanted; else they are NULL."""
    rows = [
        (at, window.shard, window.begin.kind,
         None if window.begin.value is None else str(window.begin.value),
         window.until, window.to_end)
        for at, window in windows_by_at.items()
        if window.to_end or window.until is not None
    ]  # fmt: skip
    shards = table_of(
        spark, rows, "at INT, shard STRING, kind STRING, value STRING, until STRING, to_end BOOLEAN"
    )  # fmt: skip
    tasks = max(1, min(TASKS, ceil(len(rows) / A_TASK)))
    return shards.repartition(tasks, "at").mapInArrow(_reader(stream, data), COLUMNS)


def _reader(
    stream: Stream, data: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task runs: the shards of its batches concurrently."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from reshardctl.spark.records import together

        shards = [row for batch in batches for row in batch.to_pylist()]
        reader = FastReader(stream.reach, stream.name)
        yield from together([_shard(reader, stream, row, data) for row in shards], AT_ONCE)

    return read


def _shard(
    reader: FastReader, stream: Stream, row: Mapping[str, Any], data: bool
) -> Iterator[pa.RecordBatch]:
    kind: Start = row["kind"]
    value = float(row["value"]) if kind == "AT_TIMESTAMP" else row["value"]
    before: tuple[str | None, int | None, float | None] = (None, None, None)
    try:
        begin = Begin(kind, value)
        for page in reader.after(row["shard"], begin, row["until"], to_end=row["to_end"]):
            made, before = _batch(page.records, row, stream, data, before)
            yield made
            if stream.until is not None and _beyond(page.records, stream.until):
                return
    except (PastEnd, TimeAhead):
        return
    except (ShardGone, Unmet) as error:
        yield _shortened(row["at"], error.what)
    except CannotTell as error:
        yield _shortened(row["at"], FAILED + error.what)


def _beyond(records: Sequence[StreamRecord], until: float) -> bool:
    """Whether every record is known to have arrived later than `until` (Unix seconds)."""
    return all((record.approximate_arrival_timestamp or 0) > until + LATE for record in records)


def _batch(
    records: Sequence[StreamRecord], row: Mapping[str, Any], stream: Stream, data: bool,
    before: tuple[str | None, int | None, float | None],
) -> tuple[pa.RecordBatch, tuple[str | None, int | None, float | None]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    from reshardctl.spark.records import batch_of

    rows = batch_of(records, row["shard"], stream.name, unpack=stream.unpack)
    count = rows.num_rows
    number, sub = rows.column("sequence_number"), rows.column("sub_sequence_number")
    micros = rows.column("approximate_arrival_timestamp").cast(pa.int64())
    arrival = pc.divide(micros.cast(pa.float64()), 1_000_000.0)
    columns = [
        pa.array([row["at"]] * count, pa.int32()), number, sub, rows.column("partition_key"),
        arrival, rows.column("data") if data else pa.nulls(count, pa.binary()),
        *(
            pa.concat_arrays([pa.array([was], column.type), column.slice(0, max(0, count - 1))])
            if count else column
            for was, column in zip(before, (number, sub, arrival), strict=True)
        ),
        pa.nulls(count, pa.string()),
    ]  # fmt: skip
    if count:
        before = (number[-1].as_py(), sub[-1].as_py(), arrival[-1].as_py())
    return pa.RecordBatch.from_arrays(columns, names=_names()), before


def _shortened(at: int, why: str) -> pa.RecordBatch:
    import pyarrow as pa

    kinds = (pa.int32(), pa.string(), pa.int64(), pa.string(), pa.float64(), pa.binary(),
             pa.string(), pa.int64(), pa.float64())  # fmt: skip
    first, *others = kinds
    columns = [pa.array([at], first), *(pa.nulls(1, kind) for kind in others), pa.array([why])]
    return pa.RecordBatch.from_arrays(columns, names=_names())


def _names() -> list[str]:
    return [column.split()[0] for column in COLUMNS.split(", ")]


ENDS = ("number", "sub", "arrival")
BEFORE = ("before", "before_sub", "before_arrival")


class Comparison(Struct, frozen=True):
    """Shards compared, missing records by shard and slot, as rows, and those inside aggregates."""

    compared: Mapping[ShardId, Compared]
    inside: int
    slots: Mapping[tuple[int, int], int]
    missing: DataFrame


def against(
    rows: DataFrame, stream: Stream, lineage: Lineage, known: Known, cut: tuple[Slots, ...]
) -> Comparison:
    """Compare the sink's `rows` with the stream; raises CannotTell, UsageError on failed reads."""
    spark = rows.sparkSession
    places = {shard.id: at for at, shard in enumerate(known.shards)}
    windows_by_at = {places[shard.shard]: shard for shard in windows(stream, lineage)}
    there = _there(rows, stream.unpack)
    read = _placed(records(spark, stream, windows_by_at), stream, known)
    groups = _counted(_joined(read, there), spark, cut).collect()
    compared = _compared(windows_by_at, groups, stream, lineage)
    lost: dict[tuple[int, int], int] = {}
    for row in groups:
        if row["missing"]:
            key = row["at"], row["slot"]
            lost[key] = lost.get(key, 0) + row["missing"]
    again = _narrowed(windows_by_at, compared)
    inside = sum(row["inside"] for row in groups)
    return Comparison(compared, inside, lost, _missing(spark, stream, again, known, there))


def _there(rows: DataFrame, unpack: bool) -> DataFrame:
    """Place and sub of the sink's rows, once each; a row of a wrong shard counts as well."""
    held = rows.where(f"fault IS NULL OR fault = '{Fault.NOT_ITS_SHARD}'")
    names = ["place", "sub"] if unpack else ["place"]
    return held.select(*names).dropDuplicates(names)


def _placed(read: DataFrame, stream: Stream, known: Known) -> DataFrame:
    """The stream's records with `place` like the sink's rows, and only of the wanted time."""
    placed = read.withColumn("place", F.lpad("number", known.width, "0"))
    if stream.since is not None:
        placed = placed.where((F.col("arrival") >= stream.since) | F.col("number").isNull())
    if stream.until is not None:
        placed = placed.where((F.col("arrival") < stream.until) | F.col("number").isNull())
    return placed


def _joined(read: DataFrame, there: DataFrame) -> DataFrame:
    """Records with `missing`; one shuffle of each side, by the number."""
    marked = there.withColumn("held", F.lit(True))
    joined = read.join(marked, there.columns, "left")
    return joined.withColumn("missing", F.col("held").isNull() & F.col("number").isNotNull())


def _counted(joined: DataFrame, spark: SparkSession, cut: Sequence[Slots]) -> DataFrame:
    """at, slot, read, missing, and the ends of both as STRUCTs; as many as there are slots."""
    table = table_of(
        spark, [(at, slots.since, slots.seconds, slots.count) for at, slots in enumerate(cut[:-1])],
        "at INT, since DOUBLE, seconds DOUBLE, slots INT",
    )  # fmt: skip
    slot = F.expr(
        "cast(least(greatest(floor((arrival - since) / seconds), 0), slots - 1) AS int)"
    )
    record = F.when(F.col("number").isNotNull(), F.struct("place", *ENDS))
    lost = F.when(F.col("missing"), F.struct("place", *ENDS, *BEFORE))
    return (
        joined.join(F.broadcast(table), "at")
        .groupBy("at", slot.alias("slot"))
        .agg(
            F.count("number").alias("read"), F.count_if("missing").alias("missing"),
            F.count_if(F.col("missing") & (F.col("sub") > 0)).alias("inside"),
            F.min(record).alias("first"), F.max(record).alias("last"),
            F.min(lost).alias("first_missing"), F.max(lost).alias("last_missing"),
            F.max("short").alias("short"),
        )
    )  # fmt: skip


def _compared(
    windows_by_at: Mapping[int, Window], groups: Sequence[Any], stream: Stream, lineage: Lineage
) -> dict[ShardId, Compared]:
    by_shard: dict[int, list[Any]] = defaultdict(list)
    for row in groups:
        by_shard[row["at"]].append(row)
    # Records that expire while they are read are not whole either.
    horizon = time.time() - lineage.stream.retention
    return {
        window.shard: _one(window, by_shard[at], stream, lineage, horizon)
        for at, window in windows_by_at.items()
    }  # fmt: skip


def _one(
    window: Window, of: Sequence[Any], stream: Stream, lineage: Lineage, horizon: float
) -> Compared:
    opened, closed = lineage.opened_at(window.shard), lineage.closed_at(window.shard)
    since = max(horizon, stream.since or 0.0)
    cut = stream.until is not None and (closed is None or closed >= stream.until)
    short = next((row["short"] for row in of if row["short"]), "")
    if not short and cut:
        short = UP_TO_A_TIME
    elif not short and not window.to_end and not window.tip:
        short = "records arrived faster than the newest one could be located"
    lost = _end(of, "first_missing", min)
    return Compared(
        window.shard,
        read=sum(row["read"] for row in of),
        missing=sum(row["missing"] for row in of),
        since=_record(_end(of, "first", min)),
        until=_record(_end(of, "last", max)),
        whole=opened is not None and opened >= since,
        ended=window.to_end and not short,
        tip=not window.to_end and not short,
        short=short,
        first_missing=_record(lost),
        last_missing=_record(_end(of, "last_missing", max)),
        before_missing=_record(lost, BEFORE),
    )


def _end(of: Sequence[Any], name: str, choose: Callable[..., Any]) -> Any:
    """The first or the last of the slots' ends."""
    ends = [row[name] for row in of if row[name] is not None]
    return choose(ends, key=lambda end: (end["place"], end["sub"])) if ends else None


def _record(row: Any, names: Sequence[str] = ENDS) -> Record | None:
    if row is None or row[names[0]] is None:
        return None
    number, sub, arrival = (row[name] for name in names)
    return Record(number, int(sub), arrival)


def _narrowed(
    windows_by_at: Mapping[int, Window], compared: Mapping[ShardId, Compared]
) -> dict[int, Window]:
    """Windows from the record before the first missing one to the last missing one."""
    narrowed = {}
    for at, window in windows_by_at.items():
        comparison = compared[window.shard]
        if comparison.last_missing is None:
            continue
        begin = window.begin
        if comparison.before_missing is not None:
            begin = Begin("AT_SEQUENCE_NUMBER", comparison.before_missing.number)
        narrowed[at] = Window(window.shard, begin, comparison.last_missing.number, to_end=False)
    return narrowed


def _missing(
    spark: SparkSession, stream: Stream, windows_by_at: Mapping[int, Window], known: Known,
    there: DataFrame,
) -> DataFrame:
    """The missing rows, with the columns of `kinesis-lineage`."""
    read = _placed(records(spark, stream, windows_by_at, data=True), stream, known)
    lost = read.where("number IS NOT NULL").join(there, there.columns, "left_anti")
    names = F.broadcast(table_of(
        spark, [(at, shard.id) for at, shard in enumerate(known.shards)], "at INT, shard STRING"
    ))  # fmt: skip
    return lost.join(names, "at").select(
        "data",
        F.col("key").alias("partition_key"),
        F.col("number").alias("sequence_number"),
        F.col("sub").alias("sub_sequence_number"),
        F.col("shard").alias("shard_id"),
        F.lit(stream.name.rpartition("/")[2]).alias("stream"),
        F.timestamp_micros(F.round(F.col("arrival") * 1_000_000).cast("bigint")).alias(
            "approximate_arrival_timestamp"
        ),
    )
