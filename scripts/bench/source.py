"""The source of Spark against bare loops of GetRecords, on the same cores, in the same run.

The loops run in as many processes as Spark has threads; the server, with its answers ready-made, in
one more, on the same cores. Figures are the best of several rounds, in each of which every way has
its turn; what a way needs once (an import, a session, the first connection, the first batch) went
before. Calls are counted by the server.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from scripts.bench.targets import record

RECORDS, SHARDS, SIZES, ROUNDS = 2_400_000, 4, (200, 1000), 2
MADE_UP = {
    "AWS_ACCESS_KEY_ID": "made-up", "AWS_SECRET_ACCESS_KEY": "made-up",
    "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
}  # fmt: skip
SPARK = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.sql.streaming.noDataProgressEventInterval": "100",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
FIRST = 1000
"""Records a shard of a query's first batch."""
WIDE = 1000
"""Open shards of the stream with a record of each shard in a batch."""
SERVERS: set[int] = set()
"""Processes that are no part of what is measured."""


class Cost(NamedTuple):
    """Seconds on the clock, and seconds of processor time of all that reads."""

    seconds: float
    cpu: float


def run(scale: int, folder: Path) -> None:
    """Print records a second of each way, ratios, and how many GetRecords it took."""
    if importlib.util.find_spec("pyspark") is None or not shutil.which("java"):
        print(
            "source: left out, needs PySpark and Java (see tests/proof/libraries/run)"
        )
        return
    os.environ |= MADE_UP
    from pyspark import __version__
    from pyspark.sql import SparkSession

    cores = os.cpu_count() or 1
    builder = SparkSession.builder.master(f"local[{cores}]").appName("bench")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        for size in SIZES:
            records = RECORDS * 200 // size // scale // SHARDS * SHARDS
            print(f"{records:,} records of {size} B in {SHARDS} shards, "
                  f"{cores} processes or threads, PySpark {__version__}")  # fmt: skip
            with server(records, SHARDS, size) as url:
                _compare(spark, url, records, size, cores, folder / str(size))
        shards = max(WIDE // scale, 2)
        with server((ROUNDS + 2) * shards, shards, SIZES[0]) as url:
            _wide(spark, url, shards, cores, folder / "wide")
    finally:
        spark.stop()


def _compare(
    spark: Any, url: str, records: int, size: int, cores: int, folder: Path
) -> None:
    ways: dict[str, Callable[[], Cost]] = {
        "a boto3, rows dropped": lambda: _loop("boto3", url, records, cores),
        "b boto3, Arrow rows": lambda: _loop("boto3-rows", url, records, cores),
        "c signed, json, Arrow rows": lambda: _loop("plain-rows", url, records, cores),
        "d unsigned, json, dropped": lambda: _loop("http", url, records, cores),
        "ours without Spark": lambda: _loop("ours-rows", url, records, cores),
        "spark.read, noop sink": lambda: _batch(spark, url),
        "spark.readStream, noop sink": lambda: _stream(spark, url, records, folder),
    }
    best: dict[str, Cost] = {}
    calls: dict[str, tuple[int, int]] = {}
    for round_ in range(ROUNDS + 1):
        for name, way in ways.items():
            cost = way()
            asked = _asked(url)
            calls[name] = (asked.get("GetRecords", 0), asked.get("looks", 0))
            if round_:  # the first is there to be warm
                before = best.get(name, cost)
                best[name] = Cost(*map(min, zip(before, cost, strict=True)))
    read, bare = best["spark.read, noop sink"], best["c signed, json, Arrow rows"]
    record(f"`spark.read` of {records:,} records of {size} B", read.seconds, "s", 1.11,
           rival="a signed bare loop", theirs=bare.seconds)  # fmt: skip
    loops = list(ways)[:4]
    letters = "".join(f"{name[0]:>6}" for name in loops)
    print(f"{'':30}{'k records/s':>12}{'CPU s/M':>9}   by time, x{letters}"
          f"   by CPU, x{letters}{'GetRecords':>13}{'of them looks':>15}")  # fmt: skip
    for name, cost in best.items():
        by_time = "".join(f"{best[loop].seconds / cost.seconds:6.2f}" for loop in loops)
        by_cpu = "".join(f"{best[loop].cpu / cost.cpu:6.2f}" for loop in loops)
        print(f"  {name:28}{records / cost.seconds / 1000:12.0f}{1e6 * cost.cpu / records:9.2f}"
              f"{by_time:>34}{by_cpu:>34}{calls[name][0]:15}{calls[name][1]:15}")  # fmt: skip


def _wide(spark: Any, url: str, shards: int, cores: int, folder: Path) -> None:
    """A batch of a query over many shards, of each of which it reads a record."""
    with _query(spark, url, 1, folder) as query:
        batches = _rows(query, shards)
        for shown in range(2, ROUNDS + 3):
            _show(url, shown)
            batches = _rows(query, shown * shards)
        asked = _asked(url)
    # one that is planned while the server shows the next records has a part of them only
    fullest = max(batches[1:], key=lambda one: int(one["numInputRows"]))
    seconds = fullest["durationMs"]["triggerExecution"] / 1000
    bare = min(
        _loop("plain-rows", url, (ROUNDS + 2) * shards, cores, shards).seconds
        for _ in range(ROUNDS)
    )
    print(f"a batch with a record of {fullest['numInputRows']:,} of {shards:,} shards: "
          f"{seconds:.2f} s, a bare loop over all of them {bare:.2f} s; "
          f"{asked.get('ListShards', 0)} listings, {len(batches)} batches")  # fmt: skip
    record(f"a batch of {shards:,} shards with a record each", seconds, "s", 3.0)


def _loop(way: str, url: str, records: int, cores: int, count: int = SHARDS) -> Cost:
    """From the word go until the last process is done."""
    shards = [f"shardId-{n:012d}" for n in range(count)]
    running = [
        subprocess.Popen(  # noqa: S603 - this program's own
            [sys.executable, "-m", "scripts.bench.records_loop", way, url, *shards[n::cores]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for n in range(min(cores, count))
    ]  # fmt: skip
    for one in running:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    _asked(url)
    began = time.monotonic()
    for one in running:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    done = [one.stdout.readline().split() for one in running if one.stdout]
    seconds = time.monotonic() - began
    for one in running:
        one.communicate()
    assert sum(int(count) for count, _ in done) == records
    return Cost(seconds, sum(float(cpu) for _, cpu in done))


def _batch(spark: Any, url: str) -> Cost:
    """One use of a frame; it is made, and its lines are pinned, before."""
    from reshardctl.kinesis.fast import Reach
    from reshardctl.spark.source.batch import read_between

    frame = read_between(spark, Reach("us-east-1", url), "bench")
    _asked(url)
    began, cpu = time.monotonic(), _spent()
    frame.write.format("noop").mode("overwrite").save()
    return Cost(time.monotonic() - began, _spent() - cpu)


def _stream(spark: Any, url: str, records: int, folder: Path) -> Cost:
    """All but the first batch of a query, as its progress says, ends found and logs written."""
    with _query(spark, url, FIRST, folder) as query:
        _rows(query, FIRST * SHARDS)
        _asked(url)
        cpu = _spent()
        _show(url, records)
        batches = _rows(query, records)
        cpu = _spent() - cpu
    _show(url, records)
    batches = [one for one in batches if one["batchId"]]
    rows = sum(one["numInputRows"] for one in batches)
    seconds = sum(one["durationMs"]["triggerExecution"] for one in batches) / 1000
    return Cost(seconds * records / rows, cpu * records / rows)


@contextmanager
def _query(spark: Any, url: str, first: int, folder: Path) -> Iterator[Any]:
    """A query that runs, and sees so many records of each shard at first."""
    from reshardctl.spark.source import register

    register(spark)
    _show(url, first)
    query = (
        spark.readStream.format("kinesis-lineage").option("streamName", "bench")
        .option("region", "us-east-1").option("endpointUrl", url)
        .load().writeStream.format("noop")
        .option("checkpointLocation", str(folder / str(time.monotonic()))).start()
    )  # fmt: skip
    try:
        yield query
    finally:
        query.stop()


def _rows(query: Any, wanted: int) -> list[Any]:
    """The progress of all batches with rows, once there are as many rows as wanted."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        query.processAllAvailable()
        found = [one for one in query.recentProgress if one["numInputRows"]]
        if sum(one["numInputRows"] for one in found) == wanted:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"{wanted} rows: {query.recentProgress}")


def _spent() -> float:
    """Seconds of processor time of this process and those below it, but for the server."""
    rows = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            _, _, rest = place.read_text().partition(") ")
            fields = rest.split()
            ticks = sum(map(int, fields[11:15]))
            rows[int(place.parent.name)] = (int(fields[1]), ticks)
    mine, found = os.getpid(), 0
    for pid, (_, ticks) in rows.items():
        above = pid
        while above in rows and above != mine and above not in SERVERS:
            above = rows[above][0]
        found += ticks if above == mine else 0
    return found / os.sysconf("SC_CLK_TCK")


def _show(url: str, visible: int) -> None:
    urllib.request.urlopen(f"{url}/visible", str(visible).encode()).read()  # noqa: S310 - loopback


def _asked(url: str) -> dict[str, int]:
    """The server's counts since the last call."""
    found: dict[str, int] = json.load(urllib.request.urlopen(f"{url}/asked"))  # noqa: S310
    return found


@contextmanager
def server(records: int, shards: int, size: int) -> Iterator[str]:
    """A stream `bench`; gives its address."""
    server = subprocess.Popen(  # noqa: S603 - this program's own
        [sys.executable, "-m", "scripts.bench.records_server",
         str(records), str(shards), str(size)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    SERVERS.add(server.pid)
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline() if server.stdout else 0)}"
    finally:
        server.communicate()
        SERVERS.discard(server.pid)
