"""A sink audited: any DataFrame against the lineage of its stream."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reshardctl.audit.facts import Bucket, Facts, InSink
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.audit import alone
from reshardctl.spark.audit.columns import Columns, mapped
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
    twice = doubled(good)
    groups = alone.counts(rows).collect()
    usable = [row for row in groups if row["fault"] is None]
    twofold = counted(twice).collect()
    broken = alone.unusable(rows, shards) if len(usable) < len(groups) else ()
    facts = Facts(
        sink=sink, form=form, taken=taken,
        rows=sum(row["rows"] for row in groups),
        shards=_in_sink(shards, usable, twofold),
        unusable=broken,
        buckets=_buckets(shards, cut, usable, twofold),
    )  # fmt: skip
    return Audited(facts, _named(rows.where("fault IS NOT NULL"), "fault"), _named(twice, "copies"))


def _in_sink(shards: Known, groups: list[Any], twofold: list[Any]) -> dict[ShardId, InSink]:
    by_shard: dict[int, list[Any]] = defaultdict(list)
    for row in groups:
        by_shard[row["at"]].append(row)
    twice: dict[int, list[Any]] = defaultdict(list)
    for row in twofold:
        twice[row["at"]].append(row)
    return {
        shards.shards[at].id: InSink(
            shards.shards[at].id,
            sum(row["rows"] for row in of),
            alone.record(alone.lowest(row["first"] for row in of)),
            alone.record(alone.highest(row["last"] for row in of)),
            sum(row["doubled"] for row in twice[at]),
            sum(row["extra"] for row in twice[at]),
        )
        for at, of in sorted(by_shard.items())
    }


def _buckets(
    shards: Known, cut: tuple[Slots, ...], groups: list[Any], twofold: list[Any]
) -> tuple[Bucket, ...]:
    extra = {(row["at"], row["slot"]): row["extra"] for row in twofold}
    rows = {(row["at"], row["slot"]): row["rows"] for row in groups if row["slot"] is not None}
    return tuple(
        Bucket(
            shards.shards[at].id, cut[at].begin(slot), cut[at].seconds, count,
            extra=extra.get((at, slot), 0),
        )
        for (at, slot), count in sorted(rows.items())
    )  # fmt: skip


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
