"""Summarises a sink in one pass: what the counts, the doubled records and the order begin with.

A line holds the rows of one shard, slot of time and batch whose numbers lie in one cell of 64, so
that a task hands on as many lines as it has cells, and not its rows. The order in which rows lie in
the files does not matter. Two tables are made of these lines together. `kind` 0: a line for each
shard, slot and batch, with its first and last record. `kind` 1: a line for each cell that may hold
a record twice. Spark keeps both until the audit ends; of a clean sink nothing else is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reshardctl.spark.audit.doubled import cell_and_bit
from reshardctl.spark.audit.shard_table import Known
from reshardctl.spark.audit.sink_only import ENDS, rank
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_GROUP = ("at", "fault", "slot", "head", "order")
_GROUPS, _CELLS = 0, 1


@dataclass(frozen=True, slots=True)
class Summary:
    """Tables of a sink, `None` where its numbers are not decodable.

    Attributes:
        counts: at, fault, slot, head, rows, inside and both ends: `sink_only.groups` reads it.
        cells: `cell` BIGINT of possibly repeated records, as `doubled.suspects` finds them.
        batches: at, order, head, least, most BIGINT: a batch's ends in a shard.
    """

    counts: DataFrame | None = None
    cells: DataFrame | None = None
    batches: DataFrame | None = None


@contextmanager
def summarised(rows: DataFrame, known: Known, names: Mapping[str, str]) -> Iterator[Summary]:
    """Reads the sink once, at the first question; lets Spark forget the tables at the end.

    A service that keeps no tables (Databricks: serverless compute) reads the sink at each question.
    rows: as `assign_shards.laid` gives them. names: the columns of the sink, by option.
    """
    from pyspark.errors import PySparkException

    if not known.decodable:
        yield Summary()
        return
    lines = tables(rows, known, names)
    kept = False
    with suppress(PySparkException):
        lines.persist()
        kept = True
    try:
        yield _summary(lines)
    finally:
        if kept:
            lines.unpersist()


def tables(rows: DataFrame, known: Known, names: Mapping[str, str]) -> DataFrame:
    """Both tables in one, told apart by `kind`."""
    both = F.explode(F.array(F.lit(_GROUPS), F.lit(_CELLS))).alias("kind")
    lines = _lines(rows, known, names).select("*", both).where(f"kind = {_GROUPS} OR fault IS NULL")
    ends = [name for name in lines.columns if name.startswith(("first_", "last_", "inside"))]
    keys = [F.expr(f"if(kind = {_GROUPS}, `{name}`, NULL)").alias(name) for name in _GROUP]
    cell = F.expr(f"if(kind = {_CELLS}, cell, NULL)").alias("cell")
    merged = lines.select(
        "kind", *keys, cell, "rows", F.expr(f"if(kind = {_CELLS}, bits, 0L)").alias("bits"), *ends,
    ).groupBy("kind", *_GROUP, "cell").agg(
        F.sum("rows").alias("rows"), F.bit_or("bits").alias("bits"), *_ends(names, merging=True),
    )  # fmt: skip
    return merged.where(f"kind = {_GROUPS} OR rows > bit_count(bits)").drop("bits")


def _lines(rows: DataFrame, known: Known, names: Mapping[str, str]) -> DataFrame:
    """A line for each group and cell, by whole numbers, so that Spark hashes and does not sort."""
    cell, bit = cell_and_bit(known)
    good = F.col("fault").isNull()
    told = good & F.col("key").isNotNull() if "key" in names else F.lit(False)
    return rows.select(
        "at", "fault", "slot", "head", F.when(told, F.col("order")).alias("order"),
        F.when(good, cell).alias("cell"), F.when(good, bit).alias("bit"),
        rank().alias("rank") if "sub" in names else F.col("upper").alias("rank"),
        *ENDS,
    ).groupBy(*_GROUP, "cell").agg(
        F.count("*").alias("rows"), F.bit_or("bit").alias("bits"),
        *_ends(names, merging=False),
    )  # fmt: skip


def _ends(names: Mapping[str, str], *, merging: bool) -> list[Column]:
    """The first and the last record of a group, from rows or from other groups' ends.

    Without a column for places inside aggregates the digits of `upper` tell records apart, and with
    one, the greatest is `inside`. What the sink has no column for is left out.
    """
    ends = []
    if "sub" in names:
        ends.append(F.max("inside" if merging else "sub").alias("inside"))
    for which, least, by in (("first", F.min, F.min_by), ("last", F.max, F.max_by)):
        prefix = f"{which}_" if merging else ""
        ends.append(least(f"{prefix}rank").alias(f"{which}_rank"))
        for name in ENDS:
            if name in ("upper", "sub") and "sub" not in names:
                continue
            if name == "arrival" and name not in names:
                continue
            ends.append(by(f"{prefix}{name}", f"{prefix}rank").alias(f"{which}_{name}"))
    return ends


def _summary(lines: DataFrame) -> Summary:
    given = set(lines.columns)
    filled = {"inside": F.lit(0).cast("bigint")}
    for which in ("first", "last"):
        filled |= {
            f"{which}_upper": F.col(f"{which}_rank"), f"{which}_sub": F.lit(0).cast("bigint"),
            f"{which}_arrival": F.lit(None).cast("double"),
        }  # fmt: skip
    groups = lines.where(f"kind = {_GROUPS}")
    if absent := {name: value for name, value in filled.items() if name not in given}:
        groups = groups.withColumns(absent)  # Spark Connect takes no empty list
    counts = groups.groupBy("at", "fault", "slot", "head").agg(
        F.sum("rows").alias("rows"), F.max("inside").alias("inside"),
        *(F.min_by(f"first_{name}", "first_rank").alias(f"first_{name}") for name in ENDS),
        *(F.max_by(f"last_{name}", "last_rank").alias(f"last_{name}") for name in ENDS),
    )  # fmt: skip
    batches = groups.where("order IS NOT NULL").groupBy("at", "order", "head").agg(
        F.min("first_upper").alias("least"), F.max("last_upper").alias("most")
    )  # fmt: skip
    return Summary(counts, lines.where(f"kind = {_CELLS}").select("cell"), batches)
