"""Finds rows that came into the sink after a later record of their key, exactly.

A key's records are in order inside a shard, and from a shard to its descendants: shards whose hash
keys overlap never exist at the same time, and a younger one's numbers are all greater. Each
record's first delivery is judged: a batch that is written again is doubled, not also disordered.
Rows of equal order (one batch, one moment) are not compared.

The work is done in steps. One pass counts a row for each shard and batch, which shows how many
batches may be in disorder: in a clean sink none. Otherwise their rows are found, and only those are
grouped by key.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from reshardctl.auditing.coverage import Life, Orders, doubtful, merged
from reshardctl.model import decode
from reshardctl.spark.audit.query import Group
from reshardctl.spark.audit.shards import Known
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FEW = 20_000
"""Batches of shards for which a filter is worthwhile; with more, nothing is filtered before the
join."""
_SHOWN = ("at", "shard", "number", "place", "sub", "key", "arrival")
_OVERLAPS = "low <= before OR high >= behind"


def disordered(
    rows: DataFrame, known: Known, groups: Iterable[Group], ends: DataFrame | None = None
) -> DataFrame:
    """at, shard, number, place, sub, key, arrival, behind: a row a record.

    rows: those assigned to a shard. groups: their counts. ends: those of each batch and head, where
    they are known already (query.py). behind: the number of a later record of the key that was
    there before. Rows without a key or an order are left out.
    """
    told = rows.where("order IS NOT NULL AND key IS NOT NULL")
    batches = _around(_batches(told, known) if ends is None else _of_heads(ends))
    ranges = batches.groupBy("at").agg(
        F.min("order").alias("first"), F.max("order").alias("last"),
        F.count_if(F.expr(_OVERLAPS)).alias("overlaps"),
    ).collect()  # fmt: skip
    orders = {row["at"]: Orders(row["first"], row["last"], row["overlaps"]) for row in ranges}
    in_doubt = doubtful(orders, _lives(known, groups))
    if not in_doubt:
        none = F.lit(None).cast("string").alias("behind")
        return told.where(F.lit(False)).select(*_SHOWN, none)
    across = [(at, crossing.first, crossing.last) for at, crossing in in_doubt.crossings.items()]
    schema = batches.selectExpr("at", "order AS first", "order AS last").schema
    suspects = _suspect(batches, rows.sparkSession.createDataFrame(across, schema))
    few = suspects.limit(FEW + 1).collect()
    if len(few) <= FEW:
        suspects = F.broadcast(rows.sparkSession.createDataFrame(few, suspects.schema))
    met = _spot(known).alias("spot")
    kept = told.select("*", met).join(suspects, ["at", "order"]).where(
        "crossed OR spot <= before OR spot >= behind"
    )  # fmt: skip
    return _by_key(kept.drop("spot", "before", "behind", "crossed"))


def _spot(known: Known) -> Column:
    """A record's place, as coarse as suffices: never in another order than the places.

    A head that is the shard's own counts as the least that it can be (shards.py).
    """
    if not known.decodable:
        return F.struct(F.col("place").alias("head"), F.lit(0).cast("bigint").alias("upper"))
    return F.struct(F.coalesce(F.col("head"), F.lit("")).alias("head"), F.col("upper"))


def _batches(rows: DataFrame, known: Known) -> DataFrame:
    """Returns at, order, low and high STRUCT: a batch's ends in a shard, by whole numbers."""
    if known.decodable:
        by_head = rows.groupBy("at", "order", "head").agg(
            F.min("upper").alias("least"), F.max("upper").alias("most")
        )
        return _of_heads(by_head)
    spot = _spot(known)
    return _widest(rows.select("at", "order", spot.alias("low"), spot.alias("high")))


def _of_heads(ends: DataFrame) -> DataFrame:
    """The ends of batches from those of each head: at, order, head, least and most BIGINT."""
    head = F.coalesce(F.col("head"), F.lit("")).alias("head")
    low = F.struct(head, F.col("least").alias("upper"))
    high = F.struct(head, F.col("most").alias("upper"))
    return _widest(ends.select("at", "order", low.alias("low"), high.alias("high")))


def _widest(ends: DataFrame) -> DataFrame:
    return ends.groupBy("at", "order").agg(F.min("low").alias("low"), F.max("high").alias("high"))


def _around(batches: DataFrame) -> DataFrame:
    """Adds before, behind STRUCT: the shard's maximum before a batch, and its minimum after it."""
    from pyspark.sql import Window

    in_order = Window.partitionBy("at").orderBy("order")
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    later = in_order.rowsBetween(1, Window.unboundedFollowing)
    return batches.select(
        "at", "order", "low", "high",
        F.max("high").over(earlier).alias("before"), F.min("low").over(later).alias("behind"),
    )  # fmt: skip


def _lives(known: Known, groups: Iterable[Group]) -> dict[int, Life]:
    return merged(
        (group.at, _life(known, group.first.number, group.last.number))
        for group in groups
        if group.at is not None and group.first is not None and group.last is not None
    )


def _life(known: Known, first: str, last: str) -> Life:
    born, ended = decode(first), decode(last)
    if known.decodable and born is not None and ended is not None:
        return Life(born.epoch, ended.time)
    return Life(int(first), int(last))


def _suspect(batches: DataFrame, thresholds: DataFrame) -> DataFrame:
    """at, order, before, behind STRUCT, crossed: batches that may be in disorder.

    They overlap with others of their shard, or came in another order than those of shards before or
    after theirs.
    """
    crossed = F.coalesce(F.expr("order > first OR order < last"), F.expr("order > first"),
                         F.expr("order < last"), F.lit(False))  # fmt: skip
    return (
        batches.join(F.broadcast(thresholds), "at", "left")
        .withColumn("crossed", crossed)
        .where(f"crossed OR {_OVERLAPS}")
        .select("at", "order", "before", "behind", "crossed")
    )


def _by_key(rows: DataFrame) -> DataFrame:
    """The exact comparison, of the few rows that are left."""
    from pyspark.sql import Window

    first = rows.groupBy("key", "at", "place", "sub").agg(
        F.min("order").alias("order"),
        *(F.min(name).alias(name) for name in ("shard", "number", "arrival", "least", "most")),
    ).repartition("key")  # fmt: skip
    of_key = Window.partitionBy("key", "at")
    turned = first.withColumn("turn", F.dense_rank().over(of_key.orderBy("order")))
    earlier = of_key.orderBy("turn").rangeBetween(Window.unboundedPreceding, -1)
    highest = F.max(F.struct("place", "sub", "number")).over(earlier)
    judged = turned.withColumn("highest", highest).join(_crossing(first), ["key", "at"], "left")
    in_shard = F.col("highest") > F.struct("place", "sub", "number")
    across = F.col("order") > F.col("crossing.order")
    behind = F.when(in_shard, F.col("highest.number")).otherwise(F.col("crossing.number"))
    return judged.where(in_shard | across).select(*_SHOWN, behind.alias("behind"))


def _crossing(first: DataFrame) -> DataFrame:
    """key, at, crossing STRUCT of order, number: the first record of the key in a descendant.

    A key's shards are one list, so that its records are not grouped a second time.
    """
    shards = first.groupBy("key", "at").agg(
        F.min("least").alias("least"), F.max("most").alias("most"),
        F.max("place").alias("last"), F.min("place").alias("first"),
        F.min(F.struct("order", "number")).alias("crossing"),
    )  # fmt: skip
    of_key = shards.groupBy("key").agg(
        F.collect_list(F.struct("at", "least", "most", "last", "first", "crossing")).alias("shards")
    )
    descends = "last < other.first AND least <= other.most AND other.least <= most"
    crossing = f"array_min(transform(filter(shards, other -> {descends}), x -> x.crossing))"
    return (
        of_key.where("size(shards) > 1")
        .selectExpr("key", "shards", "inline(shards)")
        .select("key", "at", F.expr(crossing).alias("crossing"))
        .where("crossing IS NOT NULL")
    )
