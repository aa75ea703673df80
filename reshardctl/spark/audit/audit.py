"""Audits a sink: any DataFrame against the lineage of its stream."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reshardctl.auditing.facts import Bucket, Facts, InSink
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.audit import sink_only
from reshardctl.spark.audit.against import Comparison, against
from reshardctl.spark.audit.assign_shards import laid
from reshardctl.spark.audit.columns import Columns, mapped
from reshardctl.spark.audit.disordered import disordered
from reshardctl.spark.audit.doubled import counted, doubled
from reshardctl.spark.audit.one_pass import summarised
from reshardctl.spark.audit.reading import Stream
from reshardctl.spark.audit.shard_table import Known, known
from reshardctl.spark.audit.slots import Slots, slots, span
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from reshardctl.kinesis.fast import Reach

WHOLE = (
    "the sink has no column for positions inside aggregated records: records were compared whole, "
    "by their number alone"
)
STORED_WHOLE = (
    "no row of the sink is from inside an aggregated record: if the pipeline stores such records "
    "whole, they are not missing (--column sub= compares by number alone)"
)
LOOK_DOUBLED = (
    "the sink has no column for positions inside aggregated records, so such records look doubled "
    "(--column sub=NAME)"
)


@dataclass(frozen=True, slots=True)
class Audited:
    """Facts, and the offending rows as frames that are not computed yet.

    unusable: fault, shard_id, sequence_number, …; doubled: a row a record, with `copies`;
    disordered, missing: a row a record; `None` if it was not looked for.
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
    stream: tuple[Reach, str] | None = None,
    since: float | None = None,
    until: float | None = None,
    sink: str = "",
    form: str = "frame",
    proof: str = "",
) -> Audited:
    """Count what the sink shows and, with `stream`, which of the stream's records it lacks.

    Runs Spark's jobs at once; data on the driver is as large as the lineage.

    Args:
        frame: The sink.
        lineage: The stream's shards.
        columns: Which column holds what.
        stream: How it is reached, and its name or ARN; it is read as far back as it has records.
        since: Unix seconds; the compared part of the stream begins here, by arrival.
        until: Its end.
        sink: Name of the sink in the report.
        form: Its format.
        proof: Why the sink is known to hold whole batches only, "" if it is not.

    Raises:
        UsageError: A column is missing.
    """
    taken = time.time()
    columns_found = mapped(frame, columns)
    shards = known(lineage)
    when = span(columns_found.frame) if "arrival" in columns_found.names else None
    cut = slots(shards, lineage.stream.created, taken, when)
    rows = laid(columns_found, shards, lineage, cut)
    good = rows.where("fault IS NULL")
    ordered = {"order", "key"} <= columns_found.names.keys()
    with summarised(rows, shards, columns_found.names) as summary:
        groups = sink_only.groups(rows, shards, summary.counts)
        usable = [group for group in groups if group.fault is None]
        twice = doubled(good, shards, summary.cells)
        late = disordered(good, shards, usable, summary.batches) if ordered else None
        behind = _late(late)
    twofold = counted(twice).collect()
    broken = sink_only.unusable(rows, shards) if len(usable) < len(groups) else ()
    whole = "sub" not in columns_found.names
    compared = None if stream is None else against(
        rows, Stream(*stream, since, until, not whole), lineage, shards, cut
    )
    facts = Facts(
        sink=sink, form=form, taken=taken,
        rows=sum(group.rows for group in groups),
        shards=_in_sink(shards, usable, twofold, behind, proof),
        unusable=broken,
        compared={} if compared is None else compared.compared,
        ordered_by="" if late is None else columns_found.names["order"],
        buckets=_buckets(shards, cut, usable, twofold, {} if compared is None else compared.slots),
        notes=tuple(_notes(whole, usable, compared, doubled=bool(twofold))),
    )  # fmt: skip
    return Audited(
        facts, _named(rows.where("fault IS NOT NULL"), "fault"), _named(twice, "copies"),
        None if late is None else _named(late, "behind"),
        None if compared is None else compared.missing,
    )  # fmt: skip


def _notes(
    whole: bool, groups: Sequence[sink_only.Group], compared: Comparison | None, *, doubled: bool
) -> Iterator[str]:
    """What the places inside aggregated records cannot tell. whole: the sink has no such column."""
    if compared is not None and whole:
        yield WHOLE
    elif compared is not None and compared.inside and not any(group.inside for group in groups):
        yield STORED_WHOLE
    if doubled and whole:
        yield LOOK_DOUBLED


def _late(records: DataFrame | None) -> dict[int, int] | None:
    if records is None:
        return None
    return {row["at"]: row["count"] for row in records.groupBy("at").count().collect()}


def _in_sink(
    shards: Known, groups: list[sink_only.Group], twofold: list[Any], late: dict[int, int] | None,
    proof: str,
) -> dict[ShardId, InSink]:
    by_shard: dict[int, list[sink_only.Group]] = defaultdict(list)
    for group in groups:
        if group.at is not None:
            by_shard[group.at].append(group)
    twice: dict[int, list[Any]] = defaultdict(list)
    for row in twofold:
        twice[row["at"]].append(row)
    return {
        shards.id(at): InSink(
            shards.id(at),
            sum(group.rows for group in of),
            sink_only.first(of),
            sink_only.last(of),
            sum(row["doubled"] for row in twice[at]),
            sum(row["extra"] for row in twice[at]),
            None if late is None else late.get(at, 0),
            sink_only.last(of) if proof else None,
            proof,
        )
        for at, of in sorted(by_shard.items())
    }


def _buckets(
    shards: Known, cut: tuple[Slots, ...], groups: list[sink_only.Group], twofold: list[Any],
    missing: Mapping[tuple[int, int], int],
) -> tuple[Bucket, ...]:
    extra: Counter[tuple[int, int]] = Counter()
    for row in twofold:
        extra[row["at"], row["slot"]] += row["extra"]
    rows: Counter[tuple[int, int]] = Counter()
    for group in groups:
        if group.at is not None and group.slot is not None:
            rows[group.at, group.slot] += group.rows
    buckets = []
    for at, slot in sorted(rows.keys() | missing.keys()):
        of, cell = cut[min(at, len(cut) - 1)], (at, slot)
        lost = missing.get(cell, 0)
        buckets.append(Bucket(
            shards.id(at), of.begin(slot), of.seconds, rows[cell], lost, extra[cell]
        ))
    return tuple(buckets)


def _named(rows: DataFrame, what: str) -> DataFrame:
    """The rows with column names of the source, and what is wrong."""
    return rows.select(
        F.col("shard").alias("shard_id"),
        F.col("number").alias("sequence_number"),
        F.col("sub").alias("sub_sequence_number"),
        F.col("key").alias("partition_key"),
        F.timestamp_micros(F.round(F.col("arrival") * 1_000_000).cast("bigint")).alias(
            "approximate_arrival_timestamp"
        ),
        what,
    )
