"""Audits a sink: any DataFrame against the lineage of its stream. Read `audit` first.

The results are frames: the offending rows as tables, the most affected keys.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reshardctl.at_once import Result, Started
from reshardctl.auditing.facts import Bucket, Facts, InSink
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.model.files import on_this_machine
from reshardctl.report.audit import Keys
from reshardctl.spark.audit import query
from reshardctl.spark.audit.against import Comparison, Stream, against
from reshardctl.spark.audit.columns import Columns, mapped
from reshardctl.spark.audit.disordered import disordered
from reshardctl.spark.audit.query import counted, doubled, kept, summarised
from reshardctl.spark.audit.shards import Known, Slots, known, laid, slots, span
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


KEPT = 100_000
"""Rows of a sink that Spark keeps while it is audited: then no question reads the files again, each
is a small query, and the stream is read beside them. More would fill memory; their one pass answers
nearly all."""
MANY = 50
"""Partitions of a shuffle that few rows take long for, if Spark does not join them: 200 are 1,600
tasks of an audit, and double its time."""


class Audited(Struct, frozen=True):
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
    count, when = span(columns_found.frame) if "arrival" in columns_found.names else (None, None)
    cut = slots(shards, lineage.stream.created, taken, when)
    rows = laid(columns_found, shards, lineage, cut)
    good = rows.where("fault IS NULL")
    ordered = {"order", "key"} <= columns_found.names.keys()
    whole = "sub" not in columns_found.names
    keeping = kept(rows, wanted=count is not None and count <= KEPT)
    with keeping as small, summarised(rows, shards, columns_found.names, small=small) as summary:
        groups = query.groups(rows, shards, summary.counts)
        usable = [group for group in groups if group.fault is None]
        comparing = None if stream is None else begun(
            partial(against, rows, Stream(*stream, since, until, not whole), lineage, shards, cut),
            beside=small,
        )
        twice = doubled(good, shards, summary.cells)
        late = disordered(good, shards, usable, summary.batches) if ordered else None
        behind = _late(late)
        twofold = counted(twice).collect()
        broken = query.unusable(rows, shards) if len(usable) < len(groups) else ()
        compared = None if comparing is None else comparing()
    facts = Facts(
        sink=sink, form=form, taken=taken,
        rows=sum(group.rows for group in groups),
        shards=_in_sink(shards, usable, twofold, behind, proof),
        unusable=broken,
        compared={} if compared is None else compared.compared,
        ordered_by="" if late is None else columns_found.names["order"],
        buckets=_buckets(shards, cut, usable, twofold, {} if compared is None else compared.slots),
        notes=(*_notes(whole, usable, compared, doubled=bool(twofold)),
               *(_slow(frame.sparkSession) if small else ())),
    )  # fmt: skip
    return Audited(
        facts, _named(rows.where("fault IS NOT NULL"), "fault"), _named(twice, "copies"),
        None if late is None else _named(late, "behind"),
        None if compared is None else compared.missing,
    )  # fmt: skip


def begun(work: Callable[[], Result], *, beside: bool) -> Callable[[], Result]:
    """Begin work that asks Spark, in a thread of its own; returns what waits for its result.

    A job of few rows is mostly planned and compiled, by one thread: two of them use two cores. The
    thread has the job group and the other properties that Spark keeps for the calling thread.

    Args:
        work: It may use the session of this process.
        beside: Whether in a thread of its own; else when its result is asked for. A client of Spark
            Connect never has one: its server decides what runs when.
    """
    from pyspark.sql.utils import is_remote

    if not beside or is_remote():
        return work
    from pyspark import InheritableThread

    return Started(work, InheritableThread).result


def _slow(session: SparkSession) -> Iterator[str]:
    """Why a session that somebody else has made needs long for few rows."""
    count = int(session.conf.get("spark.sql.shuffle.partitions") or 0)
    if session.conf.get("spark.sql.adaptive.enabled") == "false" and count > MANY:
        yield (
            f"Spark's session has {count} partitions a shuffle and no adaptive execution, which is "
            "slow for so few rows: set spark.sql.adaptive.enabled=true, or "
            "spark.sql.shuffle.partitions to the number of cores"
        )


def _notes(
    whole: bool, groups: Sequence[query.Group], compared: Comparison | None, *, doubled: bool
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
    shards: Known, groups: list[query.Group], twofold: list[Any], late: dict[int, int] | None,
    proof: str,
) -> dict[ShardId, InSink]:
    by_shard: dict[int, list[query.Group]] = defaultdict(list)
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
            query.first(of),
            query.last(of),
            sum(row["doubled"] for row in twice[at]),
            sum(row["extra"] for row in twice[at]),
            None if late is None else late.get(at, 0),
            query.last(of) if proof else None,
            proof,
        )
        for at, of in sorted(by_shard.items())
    }


def _buckets(
    shards: Known, cut: tuple[Slots, ...], groups: list[query.Group], twofold: list[Any],
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


MOST = 20
"""Number of keys that are named."""


def is_local(directory: str) -> bool:
    """Whether the directory is on this machine, not a URL."""
    return on_this_machine(directory) == directory


def check(directory: str) -> None:
    """Raises UsageError unless a local directory is new and can be made."""
    if not is_local(directory):
        return
    path = Path(directory)
    if path.exists() or path.is_symlink():
        raise UsageError(f"--rows {directory}: is there already", "name a new directory")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        what = f"--rows {directory}: {error.strerror}"
        raise UsageError(what, "name another directory") from None


def save(audited: Audited, directory: str) -> tuple[str, ...]:
    """Writes Parquet tables `missing`, `doubled`, `disordered`, `unusable`; returns their names.

    Empty ones are left out. A local directory is created whole or not at all, for its owner only:
    0700, 0600. Below a URL each table is complete once Spark's `_SUCCESS` is there.
    """
    frames = dict(_frames(audited))
    if not is_local(directory):
        for name, frame in frames.items():
            frame.write.mode("errorifexists").parquet(f"{directory.rstrip('/')}/{name}")
        return tuple(frames)
    path = Path(directory).absolute()
    partial = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        for name, frame in frames.items():
            frame.write.mode("errorifexists").parquet(f"file://{partial}/{name}")
        _own(partial)
        partial.rename(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return tuple(frames)


def most_missing(audited: Audited, most: int = MOST) -> Keys:
    """The partition keys with most missing records; equal counts by name."""
    if audited.missing is None or not any(c.missing for c in audited.facts.compared.values()):
        return Keys(())
    counted = audited.missing.groupBy("partition_key").agg(F.count("*").alias("missing"))
    first = counted.orderBy(F.desc("missing"), "partition_key").limit(most).collect()
    others = counted.count() - len(first) if len(first) == most else 0
    return Keys(tuple((row["partition_key"] or "", row["missing"]) for row in first), others)


def _frames(audited: Audited) -> Iterator[tuple[str, DataFrame]]:
    facts = audited.facts
    if audited.missing is not None and any(c.missing for c in facts.compared.values()):
        yield "missing", audited.missing
    if any(s.doubled for s in facts.shards.values()):
        yield "doubled", audited.doubled
    if audited.disordered is not None and any(s.disordered for s in facts.shards.values()):
        yield "disordered", audited.disordered
    if facts.unusable:
        yield "unusable", audited.unusable


def _own(path: Path) -> None:
    """Restricts access: Spark creates files by the umask, in a folder that was private."""
    for folder, _, files in os.walk(path):
        Path(folder).chmod(0o700)
        for name in files:
            (Path(folder) / name).chmod(0o600)
