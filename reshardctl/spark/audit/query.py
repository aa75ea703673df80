"""The one pass over a sink: rows, ends and slots of each shard, unusable rows, doubled records.

A line holds the rows of one shard, slot of time and batch whose numbers lie in one cell of 64, so
that a task hands on as many lines as it has cells, and not its rows. The order in which rows lie in
the files does not matter. Two tables are made of these lines together. `kind` 0: a line for each
shard, slot and batch, with its first and last record. `kind` 1: a line for each cell that may hold
a record twice. Spark keeps both until the audit ends; of a clean sink nothing else is read.

Records that a sink holds more than once are found exactly. Grouping by the number itself moves 56
digits of every row through a shuffle and holds them all in memory. Numbers of a shard count up, so
64 that may follow each other are one cell with a bit each: a cell with more rows than bits has a
record twice, or two that share a bit. Equal records have the same cell and bit, so only rows of
such cells are grouped by number: in a clean sink, none.

Column statistics of the files are not used. They say between which numbers a file lies, and not
which of its rows are faulty, doubled, or of which time and batch. Nor do they have whole numbers:
of a text Delta Lake keeps 32 characters (DATA_SKIPPING_STRING_PREFIX_LENGTH), Iceberg 16 by default
(write.metadata.metrics.default), and Spark takes no MIN of text from Parquet's (PARQUET-1685).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reshardctl.auditing.facts import Fault, Record, Unusable
from reshardctl.model import ShardId
from reshardctl.spark.audit.shards import HALF, Known
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


_ORDER = tuple(Fault)
_COARSE_NUMBERS = 100_000
_SUBS = 1 << 19
ENDS = ("upper", "lower", "sub", "arrival")


class End(Struct, frozen=True, order=True):
    """A record that is the first or last in one group of a shard's rows."""

    number: str
    sub: int
    arrival: float | None = None

    def record(self) -> Record:
        """The record, its number without padding."""
        return Record(self.number.lstrip("0") or "0", self.sub, self.arrival)


class Group(Struct, frozen=True):
    """Rows of one shard, fault and slot; inside: the greatest index in an aggregate."""

    at: int | None
    fault: str | None
    slot: int | None
    rows: int
    first: End | None
    last: End | None
    inside: int = 0


def groups(rows: DataFrame, known: Known, counts: DataFrame | None = None) -> list[Group]:
    """Counts in one pass and one small shuffle; as many groups as the lineage has slots.

    counts: those of decodable numbers, where they are known already.
    """
    if known.decodable:
        counted = _counts(rows) if counts is None else counts
        return [_decoded(row, known) for row in counted.collect()]
    return [_padded(row) for row in _padded_counts(rows).collect()]


def _counts(rows: DataFrame) -> DataFrame:
    """Ends by whole numbers: Spark sorts all rows for a MIN of text, but hashes for a BIGINT."""
    return rows.withColumn("rank", rank()).groupBy("at", "fault", "slot", "head").agg(
        F.count("*").alias("rows"), F.max("sub").alias("inside"),
        *(F.min_by(name, "rank").alias(f"first_{name}") for name in ENDS),
        *(F.max_by(name, "rank").alias(f"last_{name}") for name in ENDS),
    )


def rank() -> Column:
    """BIGINT that orders a shard's records with one head by number, then inside an aggregate.

    The digits before the last 18 rise with the index, whose least step is 2^80 > 10^24: without
    their last five they still differ, and leave room for the index in an aggregate.
    """
    return F.expr(f"(upper DIV {_COARSE_NUMBERS}) * {_SUBS} + least(sub, {_SUBS - 1})")


def _padded_counts(rows: DataFrame) -> DataFrame:
    record = F.struct("place", "sub", "arrival")
    return rows.groupBy("at", "fault", "slot").agg(
        F.count("*").alias("rows"), F.max("sub").alias("inside"),
        F.min(record).alias("first"), F.max(record).alias("last"),
    )  # fmt: skip


def _decoded(row: Any, known: Known) -> Group:
    if row["fault"] is not None:
        return Group(row["at"], row["fault"], row["slot"], row["rows"], None, None)
    head = row["head"] or known.head(row["at"])

    def end(which: str) -> End:
        upper, lower, sub, arrival = (row[f"{which}_{name}"] for name in ENDS)
        return End(f"{head}{upper:0{HALF}d}{lower:0{HALF}d}", sub, arrival)

    ends = end("first"), end("last")
    return Group(row["at"], None, row["slot"], row["rows"], *ends, row["inside"])


def _padded(row: Any) -> Group:
    first, last = row["first"], row["last"]
    if row["fault"] is not None:
        return Group(row["at"], row["fault"], row["slot"], row["rows"], None, None)
    ends = End(*first), End(*last)
    return Group(row["at"], None, row["slot"], row["rows"], *ends, row["inside"])


def first(of: Iterable[Group]) -> Record:
    """The least record of the usable rows."""
    return min((group.first for group in of if group.first), key=_place).record()


def last(of: Iterable[Group]) -> Record:
    """The greatest record of the usable rows."""
    return max((group.last for group in of if group.last), key=_place).record()


def _place(end: End) -> tuple[str, int]:
    return end.number, end.sub


def unusable(rows: DataFrame, known: Known) -> tuple[Unusable, ...]:
    """Faults by shard, if the number or the column names a known one; two samples each."""
    counts = (
        rows.where("fault IS NOT NULL").groupBy("fault", "at")
        .agg(F.count("*").alias("rows"), F.min("number").alias("low"), F.max("number").alias("up"))
        .collect()
    )  # fmt: skip
    faults = [
        Unusable(Fault(row["fault"]), row["rows"], _name(known, row["at"]), _samples(row))
        for row in counts
    ]
    return tuple(sorted(faults, key=lambda fault: (_ORDER.index(fault.fault), fault.shard or "")))


def _name(known: Known, at: int | None) -> ShardId | None:
    return None if at is None else known.id(at)


def _samples(row: Any) -> tuple[str, ...]:
    return tuple(sorted({text for text in (row["low"], row["up"]) if text}))


_GROUP = ("at", "fault", "slot", "head", "order")
_GROUPS, _CELLS = 0, 1


class Summary(Struct, frozen=True):
    """Tables of a sink, `None` where its numbers are not decodable, or it is small.

    Attributes:
        counts: at, fault, slot, head, rows, inside and both ends: `groups` reads it.
        cells: `cell` BIGINT of possibly repeated records, as `doubled.suspects` finds them.
        batches: at, order, head, least, most BIGINT: a batch's ends in a shard.
    """

    counts: DataFrame | None = None
    cells: DataFrame | None = None
    batches: DataFrame | None = None


@contextmanager
def summarised(
    rows: DataFrame, known: Known, names: Mapping[str, str], *, small: bool = False
) -> Iterator[Summary]:
    """Reads the sink once, at the first question; lets Spark forget the tables at the end.

    A service that keeps no tables (Databricks: serverless compute) reads the sink at each question.
    rows: as `assign_shards.laid` gives them. names: the columns of the sink, by option. small:
    whether Spark keeps the rows themselves; then there are no tables, since a query of each
    question is planned and compiled in less time than theirs.
    """
    if small or not known.decodable:
        yield Summary()
        return
    lines = tables(rows, known, names)
    with kept(lines):
        yield _summary(lines)


@contextmanager
def kept(frame: DataFrame, *, wanted: bool = True) -> Iterator[bool]:
    """Spark keeps the rows that it computes inside the block, if it can and if that is wanted.

    Gives whether it does.
    """
    from pyspark.errors import PySparkException

    keeps = False
    with suppress(PySparkException):
        if wanted:
            frame.persist()
            keeps = True
    interrupted = False
    try:
        yield keeps
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        if keeps and interrupted:  # what this thread has asked of the JVM may last for hours
            Thread(target=_forget, args=(frame,), daemon=True).start()
        elif keeps:
            frame.unpersist()


def _forget(frame: DataFrame) -> None:
    with suppress(Exception):  # Spark may end meanwhile
        frame.unpersist()


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
