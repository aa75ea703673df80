"""Finds records that a sink holds more than once, exactly.

Grouping by the number itself moves 56 digits of every row through a shuffle and holds them all in
memory. Numbers of a shard count up, so 64 that may follow each other are one cell with a bit each:
a cell with more rows than bits has a record twice, or two that share a bit. Equal records have the
same cell and bit, so only rows of such cells are grouped by number: in a clean sink, none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reshardctl.spark.audit.assign_shards import HALF
from reshardctl.spark.audit.shard_table import Known
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FEW = 20_000
"""Cells for which a filter is worthwhile; with more, the rows are grouped by number as they are."""
_STEP = 2**80 / 10**HALF
"""By how much the digits before the last 18 rise from one index to the next (bits 80 to 143)."""
_AT = 40
"""Bits of a cell for the index; that of a shard's first 8 * 10^11 records needs no more."""
_COARSE = 12
"""Bits that a cell loses where there are too many: 2^18 records that follow each other are one."""


def cell_and_bit(known: Known) -> tuple[Column, Column]:
    """Returns cell BIGINT, bit BIGINT: equal for equal records.

    If other records share them, that only costs a second look; causes are rounding, a head that is
    not the shard's own, a hash.
    """
    if not known.decodable:
        return F.xxhash64("place", "sub"), F.lit(1).cast("bigint")
    index = f"floor((upper - coalesce(base, 0L) + {int(_STEP / 2)}L) / {_STEP!r}D)"
    cell = F.expr(
        f"if(sub = 0, shiftleft(cast(at AS bigint), {_AT}) + shiftright({index}, 6),"
        f" xxhash64(at, {index}, shiftright(sub, 6)))"
    )
    return cell, F.expr(f"shiftleft(1L, cast(if(sub = 0, {index}, sub) & 63 AS int))")


def suspects(rows: DataFrame, known: Known) -> DataFrame:
    """`cell` BIGINT for possibly repeated records: one shuffle, of cells."""
    cell, bit = cell_and_bit(known)
    cells = rows.select(cell.alias("cell"), bit.alias("bit")).groupBy("cell").agg(
        F.bit_or("bit").alias("bits"), F.count("*").alias("rows")
    )  # fmt: skip
    return cells.where("rows > bit_count(bits)").select("cell")


def doubled(rows: DataFrame, known: Known, cells: DataFrame | None = None) -> DataFrame:
    """at, shard, number, place, sub, key, arrival, slot, copies BIGINT: a row a record.

    cells: what `suspects` would find, where it is known already.
    """
    suspected = _suspected(rows, known, suspects(rows, known) if cells is None else cells)
    by_number = suspected.groupBy("at", "shard", "place", "sub").agg(
        F.min("number").alias("number"), F.min("key").alias("key"),
        F.min("arrival").alias("arrival"), F.min("slot").alias("slot"),
        F.count("*").alias("copies"),
    )  # fmt: skip
    return by_number.where("copies > 1")


def _suspected(rows: DataFrame, known: Known, cells: DataFrame) -> DataFrame:
    """All rows that may be repeated: of the cells, else of coarser ones, else all."""
    cell, _ = cell_and_bit(known)
    for bits in (0, _COARSE):
        wide = cells.select(F.shiftright("cell", bits).alias("cell"))
        few = (wide.distinct() if bits else wide).limit(FEW + 1).collect()
        if not few:
            return rows.where(F.lit(False))
        if len(few) <= FEW:
            named = rows.sparkSession.createDataFrame(few, "cell BIGINT")
            same = F.shiftright(cell, bits) == F.col("cell")
            return rows.join(F.broadcast(named), same, "left_semi")
    return rows


def counted(records: DataFrame) -> DataFrame:
    """at, slot, doubled BIGINT, extra BIGINT: as large as the lineage."""
    return records.groupBy("at", "slot").agg(
        F.count("*").alias("doubled"), F.sum(F.col("copies") - 1).alias("extra")
    )
