"""What a sink says by itself: rows, ends and slots of each shard, and rows that are of none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from reshardctl.audit.facts import Fault, Record, Unusable
from reshardctl.model import ShardId
from reshardctl.spark.audit.known import Known

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ORDER = tuple(Fault)


def counts(rows: DataFrame) -> DataFrame:
    """at, fault, slot, rows BIGINT, first and last STRUCT of place, sub, arrival, number.

    As large as the lineage's slots.
    """
    from pyspark.sql import functions as F  # noqa: N812

    record = F.struct("place", "sub", "arrival", "number")
    return rows.groupBy("at", "fault", "slot").agg(
        F.count("*").alias("rows"), F.min(record).alias("first"), F.max(record).alias("last")
    )


def record(row: Any) -> Record:
    """Of a STRUCT of number, sub, arrival."""
    return Record(row["number"], int(row["sub"]), row["arrival"])


def unusable(rows: DataFrame, known: Known) -> tuple[Unusable, ...]:
    """Faults by shard, where the number or the column names a known one; two samples each."""
    from pyspark.sql import functions as F  # noqa: N812

    found = (
        rows.where("fault IS NOT NULL").groupBy("fault", "at")
        .agg(F.count("*").alias("rows"), F.min("number").alias("low"), F.max("number").alias("up"))
        .collect()
    )  # fmt: skip
    faults = [
        Unusable(Fault(row["fault"]), row["rows"], _name(known, row["at"]), _samples(row))
        for row in found
    ]
    return tuple(sorted(faults, key=lambda one: (_ORDER.index(one.fault), one.shard or "")))


def _name(known: Known, at: int | None) -> ShardId | None:
    return None if at is None else known.shards[at].id


def _samples(row: Any) -> tuple[str, ...]:
    return tuple(sorted({text for text in (row["low"], row["up"]) if text}))


def lowest(found: Iterable[Any]) -> Any:
    """The least of STRUCTs of place, sub, …"""
    return min(found, key=_place)


def highest(found: Iterable[Any]) -> Any:
    """The greatest of them."""
    return max(found, key=_place)


def _place(row: Any) -> tuple[str, int]:
    return row["place"], row["sub"]
