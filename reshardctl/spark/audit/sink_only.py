"""What a sink shows by itself: rows, ends and slots of each shard, and unusable rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reshardctl.auditing.facts import Fault, Record, Unusable
from reshardctl.model import ShardId
from reshardctl.spark.audit.assign_shards import HALF
from reshardctl.spark.audit.shard_table import Known
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ORDER = tuple(Fault)
_COARSE = 100_000
_SUBS = 1 << 19
ENDS = ("upper", "lower", "sub", "arrival")


@dataclass(frozen=True, slots=True, order=True)
class End:
    """A record that is the first or last in one group of a shard's rows."""

    number: str
    sub: int
    arrival: float | None = None

    def record(self) -> Record:
        """The record, its number without padding."""
        return Record(self.number.lstrip("0") or "0", self.sub, self.arrival)


@dataclass(frozen=True, slots=True)
class Group:
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

    counts: those of decodable numbers, where they are known already (one_pass.py).
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
    return F.expr(f"(upper DIV {_COARSE}) * {_SUBS} + least(sub, {_SUBS - 1})")


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
