"""Reads the stream for an audit: a frame of its records without their payload, or with it.

A function over Arrow batches of shards, not the data source `kinesis-lineage`: it runs on PySpark
3.5 as well, and on a Connect server without registering anything. Executors need this package.
Every end is fixed on the driver first, so a frame that is computed twice has the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reshardctl.auditing.facts import FAILED
from reshardctl.errors import CannotTell
from reshardctl.kinesis.fast import (
    Begin,
    FastReader,
    PastEnd,
    Reach,
    Record,
    ShardGone,
    Start,
    TimeAhead,
    Unmet,
)
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

AT_ONCE = 16
"""Shards that the driver or a task asks at the same time."""
TASKS = 200
LATE = 600.0
"""Seconds; arrivals are not in the order of numbers, but none is later than this."""
COLUMNS = (
    "at INT, number STRING, sub BIGINT, key STRING, arrival DOUBLE, data BINARY,"
    " before STRING, before_sub BIGINT, before_arrival DOUBLE, short STRING"
)
"""before: the record before it in its shard. short: in a row without a number, why the read of the
shard was cut short."""


@dataclass(frozen=True, slots=True)
class Window:
    """What is read of one shard: from `begin` up to number `until`, or to its end.

    tip: whether `until` was its newest record. With neither, nothing is read.
    """

    shard: ShardId
    begin: Begin
    until: str | None
    to_end: bool
    tip: bool = False


@dataclass(frozen=True, slots=True)
class Stream:
    """The stream and the wanted interval, in Unix seconds by arrival."""

    reach: Reach
    name: str
    since: float | None = None
    until: float | None = None
    unpack: bool = True


def windows(stream: Stream, lineage: Lineage) -> list[Window]:
    """A window for every listed shard that existed in that time; asks each open one for its tip."""
    from reshardctl.spark.source.tips import Tips

    begin = Begin("TRIM_HORIZON")
    if stream.since is not None:
        begin = Begin("AT_TIMESTAMP", stream.since)
    lived = [shard for shard in lineage if _lived(lineage, shard, stream)]
    tips = Tips(FastReader(stream.reach, stream.name))
    asked = [shard for shard in lived if lineage.is_open(shard)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found_tips = dict(zip(asked, pool.map(tips.tip, asked), strict=True))
    return [
        Window(shard, begin, tip.number, to_end=False, tip=tip.quiet)
        if (tip := found_tips.get(shard)) is not None
        else Window(shard, begin, None, to_end=True)
        for shard in lived
    ]


def _lived(lineage: Lineage, shard: ShardId, stream: Stream) -> bool:
    opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
    early = stream.since is not None and closed is not None and closed + LATE < stream.since
    late = stream.until is not None and opened is not None and opened - LATE > stream.until
    return not early and not late


def records(
    spark: SparkSession, stream: Stream, windows_by_at: Mapping[int, Window], *, data: bool = False
) -> DataFrame:
    """COLUMNS, by the shards' `at`. data: whether payloads are wanted; else they are NULL."""
    rows = [
        (at, window.shard, window.begin.kind,
         None if window.begin.value is None else str(window.begin.value),
         window.until, window.to_end)
        for at, window in windows_by_at.items()
        if window.to_end or window.until is not None
    ]  # fmt: skip
    shards = spark.createDataFrame(
        rows, "at INT, shard STRING, kind STRING, value STRING, until STRING, to_end BOOLEAN"
    )
    tasks = max(1, min(TASKS, len(rows)))
    return shards.repartition(tasks, "at").mapInArrow(_reader(stream, data), COLUMNS)


def _reader(
    stream: Stream, data: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task runs: the shards of its batches concurrently."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from reshardctl.spark.source.together import together

        shards = [row for batch in batches for row in batch.to_pylist()]
        reader = FastReader(stream.reach, stream.name)
        yield from together([_shard(reader, stream, row, data) for row in shards], AT_ONCE)

    return read


def _shard(
    reader: FastReader, stream: Stream, row: Mapping[str, Any], data: bool
) -> Iterator[pa.RecordBatch]:
    kind: Start = row["kind"]
    value = float(row["value"]) if kind == "AT_TIMESTAMP" else row["value"]
    before: tuple[str | None, int | None, float | None] = (None, None, None)
    try:
        begin = Begin(kind, value)
        for page in reader.after(row["shard"], begin, row["until"], to_end=row["to_end"]):
            made, before = _batch(page.records, row, stream, data, before)
            yield made
            if stream.until is not None and _beyond(page.records, stream.until):
                return
    except (PastEnd, TimeAhead):
        return
    except (ShardGone, Unmet) as error:
        yield _shortened(row["at"], error.what)
    except CannotTell as error:
        yield _shortened(row["at"], FAILED + error.what)


def _beyond(records: Sequence[Record], until: float) -> bool:
    """Whether every record is known to have arrived later than `until` (Unix seconds)."""
    return all((record.approximate_arrival_timestamp or 0) > until + LATE for record in records)


def _batch(
    records: Sequence[Record], row: Mapping[str, Any], stream: Stream, data: bool,
    before: tuple[str | None, int | None, float | None],
) -> tuple[pa.RecordBatch, tuple[str | None, int | None, float | None]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    from reshardctl.spark.source.rows import batch_of

    rows = batch_of(records, row["shard"], stream.name, unpack=stream.unpack)
    count = rows.num_rows
    number, sub = rows.column("sequence_number"), rows.column("sub_sequence_number")
    micros = rows.column("approximate_arrival_timestamp").cast(pa.int64())
    arrival = pc.divide(micros.cast(pa.float64()), 1_000_000.0)
    columns = [
        pa.array([row["at"]] * count, pa.int32()), number, sub, rows.column("partition_key"),
        arrival, rows.column("data") if data else pa.nulls(count, pa.binary()),
        *(
            pa.concat_arrays([pa.array([was], column.type), column.slice(0, max(0, count - 1))])
            if count else column
            for was, column in zip(before, (number, sub, arrival), strict=True)
        ),
        pa.nulls(count, pa.string()),
    ]  # fmt: skip
    if count:
        before = (number[-1].as_py(), sub[-1].as_py(), arrival[-1].as_py())
    return pa.RecordBatch.from_arrays(columns, names=_names()), before


def _shortened(at: int, why: str) -> pa.RecordBatch:
    import pyarrow as pa

    kinds = (pa.int32(), pa.string(), pa.int64(), pa.string(), pa.float64(), pa.binary(),
             pa.string(), pa.int64(), pa.float64())  # fmt: skip
    first, *others = kinds
    columns = [pa.array([at], first), *(pa.nulls(1, kind) for kind in others), pa.array([why])]
    return pa.RecordBatch.from_arrays(columns, names=_names())


def _names() -> list[str]:
    return [column.split()[0] for column in COLUMNS.split(", ")]
