"""Compares the sink with its stream: which of the records that can still be read are missing.

One pass over both: records of the stream are joined with the sink's rows by number and index inside
an aggregate. Each record carries the one before it, so that the record before the first missing one
needs no second pass. The frame `missing` reads again, but only shards with missing records, and
only that part of them.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reshardctl.auditing.facts import UP_TO_A_TIME, Compared, Fault, Record
from reshardctl.kinesis.fast import Begin
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.audit.reading import Stream, Window, records, windows
from reshardctl.spark.audit.shard_table import Known
from reshardctl.spark.audit.slots import Slots
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ENDS = ("number", "sub", "arrival")
BEFORE = ("before", "before_sub", "before_arrival")


@dataclass(frozen=True, slots=True)
class Comparison:
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
    table = spark.createDataFrame(
        [(at, slots.since, slots.seconds, slots.count) for at, slots in enumerate(cut[:-1])],
        "at INT, since DOUBLE, seconds DOUBLE, slots INT",
    )
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
    names = F.broadcast(spark.createDataFrame(
        [(at, shard.id) for at, shard in enumerate(known.shards)], "at INT, shard STRING"
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
