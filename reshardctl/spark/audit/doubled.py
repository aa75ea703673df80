"""Records that a sink holds more than once, exactly.

Grouping by the number itself moves 56 digits of every row through a shuffle; grouping by a hash
of 64 bits moves eight bytes. Equal records have equal hashes, so only what shares its hash with
another row is grouped by number: in a clean sink, nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reshardctl.spark.audit.known import Known

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FEW = 20_000
"""Hashes that are worth a filter; beyond them the rows are grouped by number as they are."""


def _hash(known: Known) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.xxhash64(*(("upper", "lower", "sub") if known.decodable else ("place", "sub")))


def suspects(rows: DataFrame, known: Known) -> DataFrame:
    """`hash` BIGINT of records that may be there more than once: one shuffle of hashes."""
    from pyspark.sql import functions as F  # noqa: N812

    hashes = rows.select(_hash(known).alias("hash")).groupBy("hash").agg(F.count("*").alias("rows"))
    return hashes.where("rows > 1").select("hash")


def doubled(rows: DataFrame, known: Known) -> DataFrame:
    """at, shard, number, place, sub, key, arrival, slot, copies BIGINT: a row a record."""
    from pyspark.sql import functions as F  # noqa: N812

    few = suspects(rows, known).limit(FEW + 1).collect()
    kept = rows
    if len(few) <= FEW:
        filter_ = rows.sparkSession.createDataFrame([(row["hash"],) for row in few], "hash BIGINT")
        kept = rows.join(F.broadcast(filter_), _hash(known) == F.col("hash"), "left_semi")
    by_number = kept.groupBy("at", "shard", "place", "sub").agg(
        F.min("number").alias("number"), F.min("key").alias("key"),
        F.min("arrival").alias("arrival"), F.min("slot").alias("slot"),
        F.count("*").alias("copies"),
    )  # fmt: skip
    return by_number.where("copies > 1")


def counted(records: DataFrame) -> DataFrame:
    """at, slot, doubled BIGINT, extra BIGINT: as large as the lineage."""
    from pyspark.sql import functions as F  # noqa: N812

    return records.groupBy("at", "slot").agg(
        F.count("*").alias("doubled"), F.sum(F.col("copies") - 1).alias("extra")
    )
