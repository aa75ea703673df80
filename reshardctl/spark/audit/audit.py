"""A sink audited: any DataFrame against the lineage of its stream."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reshardctl.audit.facts import Bucket, Facts, InSink
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.audit import alone
from reshardctl.spark.audit.columns import Columns, mapped
from reshardctl.spark.audit.disordered import disordered
from reshardctl.spark.audit.doubled import counted, doubled
from reshardctl.spark.audit.known import Known, known
from reshardctl.spark.audit.laid import laid
from reshardctl.spark.audit.slots import Slots, slots, span

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Audited:
    """Facts, and the offending rows as frames that nothing has collected yet.

    unusable: fault, shard_id, sequence_number, …; doubled: a row a record, with `copies`;
    disordered, missing: a row a record; `None` where it was not looked for.
    """

    facts: Facts
    unusable: DataFrame
    doubled: DataFrame
    disordered: DataFrame | None = None
    missing: DataFrame | None = None


def audit(
    frame: DataFrame,
    *,
    lineage: Lineage,
    columns: Columns = Columns(),  # noqa: B008
    sink: str = "",
    form: str = "frame",
) -> Audited:
    """Count everything that the sink alone tells. UsageError where a column is missing.

    Runs Spark's jobs at once; what it holds on the driver is as large as the lineage.
    """
    taken = time.time()
    found = mapped(frame, columns)
    shards = known(lineage)
    when = span(found.frame) if "arrival" in found.names else None
    cut = slots(shards, lineage.stream.created, taken, when)
    rows = laid(found, shards, lineage, cut)
    good = rows.where("fault IS NULL")
    twice = doubled(good, shards)
    groups = alone.groups(rows, shards)
    usable = [one for one in groups if one.fault is None]
    twofold = counted(twice).collect()
    broken = alone.unusable(rows, shards) if len(usable) < len(groups) else ()
    late = None
    if "order" in found.names and "key" in found.names:
        late = disordered(good, shards, usable)
    facts = Facts(
        sink=sink, form=form, taken=taken,
        rows=sum(one.rows for one in groups),
        shards=_in_sink(shards, usable, twofold, _late(late)),
        unusable=broken,
        ordered_by="" if late is None else found.names["order"],
        buckets=_buckets(shards, cut, usable, twofold),
    )  # fmt: skip
    return Audited(
        facts, _named(rows.where("fault IS NOT NULL"), "fault"), _named(twice, "copies"),
        None if late is None else _named(late, "behind"),
    )  # fmt: skip


def _late(records: DataFrame | None) -> dict[int, int] | None:
    if records is None:
        return None
    return {row["at"]: row["count"] for row in records.groupBy("at").count().collect()}


def _in_sink(
    shards: Known, groups: list[alone.Group], twofold: list[Any], late: dict[int, int] | None
) -> dict[ShardId, InSink]:
    by_shard: dict[int, list[alone.Group]] = defaultdict(list)
    for one in groups:
        if one.at is not None:
            by_shard[one.at].append(one)
    twice: dict[int, list[Any]] = defaultdict(list)
    for row in twofold:
        twice[row["at"]].append(row)
    return {
        shards.id(at): InSink(
            shards.id(at),
            sum(one.rows for one in of),
            alone.first(of),
            alone.last(of),
            sum(row["doubled"] for row in twice[at]),
            sum(row["extra"] for row in twice[at]),
            None if late is None else late.get(at, 0),
        )
        for at, of in sorted(by_shard.items())
    }


def _buckets(
    shards: Known, cut: tuple[Slots, ...], groups: list[alone.Group], twofold: list[Any]
) -> tuple[Bucket, ...]:
    extra: Counter[tuple[int, int]] = Counter()
    for row in twofold:
        extra[row["at"], row["slot"]] += row["extra"]
    rows: Counter[tuple[int, int]] = Counter()
    for one in groups:
        if one.at is not None and one.slot is not None:
            rows[one.at, one.slot] += one.rows
    found = []
    for (at, slot), count in sorted(rows.items()):
        of = cut[min(at, len(cut) - 1)]
        found.append(
            Bucket(shards.id(at), of.begin(slot), of.seconds, count, extra=extra[at, slot])
        )
    return tuple(found)


def _named(rows: DataFrame, what: str) -> DataFrame:
    """As the source names its columns, and what is wrong."""
    from pyspark.sql import functions as F  # noqa: N812

    return rows.select(
        F.col("shard").alias("shard_id"),
        F.col("number").alias("sequence_number"),
        F.col("sub").alias("sub_sequence_number"),
        F.col("key").alias("partition_key"),
        F.timestamp_micros((F.col("arrival") * 1_000_000).cast("bigint")).alias(
            "approximate_arrival_timestamp"
        ),
        what,
    )
