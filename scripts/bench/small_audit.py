"""A small `audit` and `rebuild` against an empty Spark job, each from its start to its exit.

The job counts one row in a session of PySpark's own, `local[*]`. Seconds of the clock, each the
least of several rounds; what a JVM does until it ends counts, and the server of the stream does
not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from reshardctl.kinesis.fast import Begin, FastReader, Reach
from reshardctl.model import shard_id
from scripts.bench.source import MADE_UP, SHARDS, server
from scripts.bench.targets import record

ROWS, FILES, BATCH, SIZE, ROUNDS, TARGET = 10_000, 8, 500, 200, 3, 1.8
EMPTY = "an empty Spark job"
OPTIONS = "release=kinesis-lineage&startingPosition=TRIM_HORIZON&failOnDataLoss=true&sink=other"
JOB = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").getOrCreate()
spark.range(1).count()
spark.stop()
"""


def small(folder: Path) -> None:
    """Print seconds of each and keep their ratios."""
    os.environ |= {name: one for name, one in MADE_UP.items() if name.startswith("AWS_")}
    with server(ROWS, SHARDS, SIZE) as url:
        sink, query = folder / "sink", folder / "query"
        _write(sink, query, url)
        stream = ("--stream", "bench", "--region", "us-east-1", "--endpoint-url", f"kinesis={url}")
        us = (sys.executable, "-m", "reshardctl")
        ways = {
            EMPTY: (sys.executable, "-c", JOB),
            "audit": (*us, "audit", str(sink), *stream, "--column", "order=batch"),
            "rebuild": (*us, "rebuild", f"spark:{query}?{OPTIONS}", "--from", str(sink), *stream,
                        "--dry-run"),
        }  # fmt: skip
        took = {name: min(_seconds(way) for _ in range(ROUNDS)) for name, way in ways.items()}
    print(f"{ROWS:,} rows and records of {SHARDS} shards in {FILES} files")
    for name, seconds in took.items():
        print(f"  {name:28} {seconds:7.2f} s {seconds / took[EMPTY]:6.2f} x")
        if name != EMPTY:
            record(f"{name} of {ROWS:,} rows", seconds, "s", TARGET,
                   rival=EMPTY, theirs=took[EMPTY])  # fmt: skip


def _seconds(way: tuple[str, ...]) -> float:
    """From the start of the process to its exit; RuntimeError if it failed."""
    began = time.monotonic()
    done = subprocess.run(way, capture_output=True, text=True)  # noqa: S603 - this program's own
    if done.returncode > 1:  # 1: findings, or a plan
        raise RuntimeError(done.stderr)
    return time.monotonic() - began


def _write(sink: Path, query: Path, url: str) -> None:
    """Every record of the stream in Parquet, and a query that has read the first of each shard."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    reader, marks, rows = FastReader(Reach("us-east-1", url), "bench"), {}, []
    for shard in map(shard_id, range(SHARDS)):
        (page, *_) = reader.after(shard, Begin("TRIM_HORIZON"), None, to_end=False)
        marks[shard] = {"seq": page.records[0].sequence_number, "end": False}
        rows += [
            (record.sequence_number, shard, record.partition_key,
             round(1e6 * (record.approximate_arrival_timestamp or 0)), index // BATCH)
            for index, record in enumerate(page.records)
        ]  # fmt: skip
    rows.sort(key=lambda row: row[-1])
    sink.mkdir()
    for file in range(FILES):
        numbers, shards, keys, moments, batches = zip(*rows[file::FILES], strict=True)
        pq.write_table(pa.table({
            "sequence_number": numbers, "shard_id": shards, "partition_key": keys,
            "approximate_arrival_timestamp": pa.array(moments, pa.timestamp("us", "UTC")),
            "batch": batches,
        }), sink / f"part-{file:05d}.parquet")  # fmt: skip
    head = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1795219200000,"conf":{}}\n'
    for name, text in {
        "metadata": '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}',
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
        "offsets/0": head + json.dumps({"shards": marks, "stream": "bench"}),
    }.items():
        (query / name).parent.mkdir(parents=True, exist_ok=True)
        (query / name).write_text(text)
