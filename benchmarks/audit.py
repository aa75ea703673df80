"""The audit of a sink by itself against Spark reading the same columns of it, in the same run.

A line a question, since each is a pass of its own over the columns that it needs, and then all of
them as `audit` asks them. Twice, of a tenth of the rows and of all: does it grow with them, and
does what the driver holds? Figures are the best of several rounds.
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

ROWS, SHARDS, FILES, KEYS, ROUNDS = 10_000_000, 16, 8, 200_000, 3
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
        print("audit: left out, needs PySpark and Java (tests/interop/run tells how to have them)")
        return
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    from pyspark import __version__
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{os.cpu_count()}]").appName("bench")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        for rows in (ROWS // scale // 10, ROWS // scale):
            path = folder / str(rows)
            _write(path, rows)
            print(f"{rows:,} rows of {SHARDS} shards in {FILES} files, PySpark {__version__}")
            _compare(spark.read.parquet(str(path)), rows)
    finally:
        spark.stop()


def _compare(frame: Any, rows: int) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    number = F.col("sequence_number")
    ways: dict[str, Callable[[], Any]] = {
        "read the same columns": lambda: _noop(frame.select(*COLUMNS)),
        "MIN, MAX and COUNT of text by shard": lambda: frame.groupBy("shard_id").agg(
            F.min(number), F.max(number), F.count("*")).collect(),
        **_questions(frame),
    }  # fmt: skip
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            took = time.perf_counter() - began
            best[name] = min(took, best.get(name, took))
    reading = best["read the same columns"]
    for name, took in best.items():
        speed = f"{rows / took / 1e6:7.2f} M rows/s"
        print(f"  {name:40} {took:7.2f} s {speed} {took / reading:6.2f} x", flush=True)


def _questions(frame: Any) -> dict[str, Callable[[], Any]]:
    from reshardctl.spark.audit import Columns, alone, audit
    from reshardctl.spark.audit.columns import mapped
    from reshardctl.spark.audit.disordered import disordered
    from reshardctl.spark.audit.doubled import doubled
    from reshardctl.spark.audit.known import known
    from reshardctl.spark.audit.laid import laid
    from reshardctl.spark.audit.slots import slots

    lineage, columns = _lineage(), Columns(order="batch")
    shards = known(lineage)
    cut = slots(shards, CREATED, CREATED + LASTS, (CREATED, CREATED + LASTS))
    rows = laid(mapped(frame, columns), shards, lineage, cut)
    good = rows.where("fault IS NULL")
    groups = alone.groups(rows, shards)
    print(f"  the driver holds {len(groups):,} groups")
    return {
        "rows, ends, times, rows of no shard": lambda: alone.groups(rows, shards),
        "doubled records": lambda: doubled(good, shards),
        "order per key": lambda: disordered(good, shards, groups),
        "all, as `audit` asks": lambda: audit(frame, lineage=lineage, columns=columns),
        "all but the order": lambda: audit(frame, lineage=lineage),
    }


def _noop(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _number(shard: int, index: int, second: int) -> str:
    """Of layout v2, in use since about 2015."""
    fixed = 2 << 184 | CREATED - 3 << 148 | (shard & 15) << 144 | shard << 4 | 2
    return str(fixed | index << 80 | second << 36)


def _lineage() -> Lineage:
    stream = Stream(
        "arn:aws:kinesis:us-east-1:123456789012:stream/orders", "orders", CREATED, LASTS, "ACTIVE"
    )
    edges = [n * HASH_SPACE // SHARDS for n in range(SHARDS + 1)]
    return Lineage(stream, [
        Shard(shard_id(n), None, None, edges[n], edges[n + 1] - 1, _number(n, 0, CREATED - 3), None)
        for n in range(SHARDS)
    ])  # fmt: skip


def _write(path: Path, rows: int) -> None:
    """Ten batches a file, each with as many rows of every shard."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir()
    each = max(1, rows // FILES // 10 // SHARDS)
    for file in range(FILES):
        found = list(_rows(file, each, rows))
        numbers, shards, keys, moments, batches = (list(one) for one in zip(*found, strict=True))
        table = pa.table({
            "sequence_number": numbers, "shard_id": shards, "partition_key": keys,
            "approximate_arrival_timestamp": pa.array(moments, pa.timestamp("us", "UTC")),
            "batch": pa.array(batches, pa.int64()),
        })  # fmt: skip
        pq.write_table(table, path / f"part-{file:05d}.parquet")


def _rows(file: int, each: int, rows: int) -> Iterator[tuple[str, str, str, int, int]]:
    for batch in range(file * 10, file * 10 + 10):
        for shard in range(SHARDS):
            name = shard_id(shard)
            for index in range(batch * each + 1, batch * each + each + 1):
                second = CREATED + index * LASTS * SHARDS // (rows + SHARDS)
                key = f"k{(index * 7919 % (KEYS // SHARDS)) * SHARDS + shard}"
                yield _number(shard, index, second), name, key, second * 1_000_000 + 300_000, batch
