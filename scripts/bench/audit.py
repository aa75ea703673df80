"""The audit of a sink by itself against Spark reading the same columns of it, in the same run.

The first and the last arrival, the one pass that all the rest begins with, and then an audit as a
whole. Of a tenth of the rows and of all: does it grow with them, and does what the driver holds?
The same rows in an order that tells nothing: does their order in the files matter? Thousands of
shards of which one has nearly all rows. And a small sink, by the commands (small_audit.py). Seconds
of the clock and of the processors, each the least of several rounds: other work on the machine
changes the ratio of the latter least.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, Stream, shard_id
from scripts.bench.small_audit import small
from scripts.bench.targets import record

ROWS, SHARDS, FILES, KEYS, ROUNDS = 10_000_000, 16, 8, 200_000, 3
AUDITS = ("all but the order", "all, as `audit` asks")
MANY = 5_000
"""Shards of the other sink; the first has nine rows of ten."""
CREATED, LASTS = 1_700_000_000, 86_400
SPARK = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "3g",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
COLUMNS = ("sequence_number", "shard_id", "partition_key", "approximate_arrival_timestamp", "batch")


def run(scale: int, folder: Path) -> None:
    """Print seconds, rows a second, and each question's ratio to the bare reading."""
    if importlib.util.find_spec("pyspark") is None or not shutil.which("java"):
        print(
            "audit: left out, needs PySpark and Java (see tests/proof/libraries/run)"
        )
        return
    small(folder)
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    from pyspark import __version__
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{os.cpu_count()}]").appName("bench")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        for rows, shards in ((ROWS // 10, SHARDS), (ROWS, SHARDS), (ROWS * 2 // 5, MANY)):
            counts = _counts(rows // scale, shards)
            path = folder / f"{rows}-{shards}"
            _write(path, counts)
            total = f"{sum(counts) * 10 * FILES:,} rows of {shards:,} shards"
            print(f"{total} in {FILES} files, PySpark {__version__}")
            _compare(spark, spark.read.parquet(str(path)), len(counts), total, 2)
            if rows == ROWS:
                _shuffle(spark, path, folder / "shuffled")
                print(f"{total}, shuffled")
                frame = spark.read.parquet(str(folder / "shuffled"))
                _compare(spark, frame, len(counts), f"{total}, shuffled", 3)
    finally:
        spark.stop()


def _shuffle(spark: Any, path: Path, to: Path) -> None:
    """The same rows, spread over the files and in each in an order that tells nothing."""
    from pyspark.sql import functions as F  # noqa: N812

    by = F.xxhash64("sequence_number")
    frame = spark.read.parquet(str(path)).repartition(FILES, by)
    frame.sortWithinPartitions(by).write.parquet(str(to))


def _counts(rows: int, shards: int) -> list[int]:
    """Rows of each shard in each batch, of which a file has ten."""
    batch = rows // FILES // 10
    if shards == SHARDS:
        return [max(1, batch // shards)] * shards
    return [max(1, batch * 9 // 10), *([max(1, batch // 10 // shards)] * (shards - 1))]


def _compare(spark: Any, frame: Any, shards: int, what: str, target: float) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    ways: dict[str, Callable[[], Any]] = {
        "read the same columns": lambda: _noop(frame.select(*COLUMNS)),
        "MAX of each of them": lambda: frame.agg(*(F.max(one) for one in COLUMNS)).collect(),
        **_questions(frame, shards),
    }
    clock: dict[str, float] = {}
    processors: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began, used = time.perf_counter(), _used(spark)
            way()
            took, work = time.perf_counter() - began, _used(spark) - used
            clock[name] = min(took, clock.get(name, took))
            processors[name] = min(work, processors.get(name, work))
    reading = next(iter(ways))
    for name in ways:
        print(f"  {name:28} {clock[name]:7.2f} s {clock[name] / clock[reading]:6.2f} x  "
              f"processors {processors[name]:7.2f} s {processors[name] / processors[reading]:6.2f}"
              " x", flush=True)  # fmt: skip
    for name in AUDITS:
        record(f"audit of {what}, CPU: {name}", processors[name], "s", target,
               rival="a scan of its columns", theirs=processors[reading])  # fmt: skip
    came = _collected(spark, ways[AUDITS[-1]])
    print(f"  {came:,} rows came to the driver; the heap holds {_held(spark):.0f} MB after it")


def _used(spark: Any) -> float:
    """Processor seconds of the JVM, which is driver and executors in one, and of this process."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + time.process_time()


def _held(spark: Any) -> float:
    """Megabytes of the heap that are in use when all garbage is gone."""
    spark._jvm.java.lang.System.gc()
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    return float(runtime.totalMemory() - runtime.freeMemory()) / 1e6


def _collected(spark: Any, way: Callable[[], Any]) -> int:
    """Rows that come to the driver while it runs."""
    kind: Any = type(spark.range(0))
    collect, met = kind.collect, 0

    def counting(frame: Any) -> Any:
        nonlocal met
        found = collect(frame)
        met += len(found)
        return found

    kind.collect = counting
    try:
        way()
    finally:
        kind.collect = collect
    return met


def _questions(frame: Any, count: int) -> dict[str, Callable[[], Any]]:
    from reshardctl.spark.audit import Columns, audit
    from reshardctl.spark.audit.columns import mapped
    from reshardctl.spark.audit.query import tables
    from reshardctl.spark.audit.shards import known, laid, slots, span

    lineage, columns = _lineage(count), Columns(order="batch")
    shards, found = known(lineage), mapped(frame, columns)
    cut = slots(shards, CREATED, CREATED + LASTS, (CREATED, CREATED + LASTS))
    rows = laid(found, shards, lineage, cut)
    audits: tuple[Callable[[], Any], ...] = (
        lambda: audit(frame, lineage=lineage),
        lambda: audit(frame, lineage=lineage, columns=columns),
    )
    return {
        "first and last arrival": lambda: span(found.frame),
        "the one pass": lambda: _noop(tables(rows, shards, found.names)),
        **dict(zip(AUDITS, audits, strict=True)),
    }


def _noop(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _number(shard: int, index: int, second: int) -> str:
    """Of layout v2, in use since about 2015."""
    fixed = 2 << 184 | CREATED - 3 << 148 | (shard & 15) << 144 | shard << 4 | 2
    return str(fixed | index << 80 | second << 36)


def _lineage(count: int) -> Lineage:
    stream = Stream(
        "arn:aws:kinesis:us-east-1:123456789012:stream/orders", "orders", CREATED, LASTS, "ACTIVE"
    )
    edges = [n * HASH_SPACE // count for n in range(count + 1)]
    return Lineage(stream, [
        Shard(shard_id(n), None, None, edges[n], edges[n + 1] - 1, _number(n, 0, CREATED - 3), None)
        for n in range(count)
    ])  # fmt: skip


def _write(path: Path, counts: list[int]) -> None:
    """Ten batches a file, each with as many rows of every shard as `counts` has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir()
    for file in range(FILES):
        found = list(_rows(file, counts))
        numbers, shards, keys, moments, batches = (list(one) for one in zip(*found, strict=True))
        table = pa.table({
            "sequence_number": numbers, "shard_id": shards, "partition_key": keys,
            "approximate_arrival_timestamp": pa.array(moments, pa.timestamp("us", "UTC")),
            "batch": pa.array(batches, pa.int64()),
        })  # fmt: skip
        pq.write_table(table, path / f"part-{file:05d}.parquet")


def _rows(file: int, counts: list[int]) -> Iterator[tuple[str, str, str, int, int]]:
    for batch in range(file * 10, file * 10 + 10):
        for shard, each in enumerate(counts):
            name = shard_id(shard)
            for index in range(batch * each + 1, batch * each + each + 1):
                second = CREATED + index * LASTS // (each * FILES * 10 + 1)
                key = f"k{(index * 7919 % max(1, KEYS // len(counts))) * len(counts) + shard}"
                yield _number(shard, index, second), name, key, second * 1_000_000 + 300_000, batch
