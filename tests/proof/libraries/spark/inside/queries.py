"""Runs one streaming query from its checkpoint until nothing comes any more."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

_LOOK_SECONDS = 0.1
_KEPT: dict[str, tuple[StreamingQuery, _Collector]] = {}
"""Queries that go on, by checkpoint."""


class _Collector:
    """A sink that keeps the payloads of each batch that had any, in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batches: list[list[str]] = []
        self.last = time.monotonic()

    def __call__(self, frame: DataFrame, _batch: int) -> None:
        payloads = [row[0] for row in frame.selectExpr("CAST(data AS STRING)").collect()]
        with self._lock:
            if payloads:
                self._batches.append(payloads)
                self.last = time.monotonic()

    @property
    def batches(self) -> list[list[str]]:
        with self._lock:
            return [list(batch) for batch in self._batches]


def run(spark: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """`format`, `options`, `checkpoint` name the query; `source` its source (offset log v2).

    `conf` is set in the session for this query and those after it, `own` in one for this query.
    `files` names the folder of a file sink of payloads, `table` one of whole rows as Parquet;
    without either rows are collected. The query is stopped
    when `quiet` seconds and `idle` empty rounds have gone by without a row, at the latest after
    `patience` seconds (then `late`). `pause` is the time from one round's beginning to the next:
    the query is then stopped between two rounds, and not while a connector that runs empty batches
    writes what belongs to one. With `keep` it goes on, for `more`, unless it has died.
    Answers `batches` (payloads per batch) or `rows` (what a reader of the file sink sees), `died`
    (why, or null), `late` and `seconds`.
    """
    for name, value in request.get("conf", {}).items():
        spark.conf.set(name, value)
    if "own" in request:
        spark = spark.newSession()
        for name, value in request["own"].items():
            spark.conf.set(name, value)
    collector = _Collector()
    query = _started(spark, request, collector)
    return _waited(spark, query, collector, "", request)


def more(spark: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """Wait again for a query that `run` kept, by its `checkpoint`. Takes and answers the rest as
    `run`; only rounds that begin from now on count as empty ones."""
    query, collector = _KEPT.pop(request["checkpoint"])
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return _waited(spark, query, collector, now, request)


def _waited(
    spark: SparkSession, query: StreamingQuery, collector: _Collector, since: str,
    request: dict[str, Any],
) -> dict[str, Any]:
    began = time.monotonic()
    late = False
    while query.isActive and not late and not _quiet(
        query, max(collector.last, began), since, request
    ):
        time.sleep(_LOOK_SECONDS)
        late = time.monotonic() - began > request["patience"]
    if "keep" in request and query.isActive and not late:
        _KEPT[request["checkpoint"]] = query, collector
        return {"batches": collector.batches, "died": None, "late": False, "kept": True}
    if "pause" in request:
        _await_a_round(query)
    failure = query.exception()
    query.stop()
    answer: dict[str, Any] = {
        "batches": collector.batches,
        "died": None if failure is None else str(failure)[:4000],
        "late": late,
        "seconds": round(time.monotonic() - began, 1),
    }
    if "files" in request:
        answer["rows"] = [row[0] for row in spark.read.text(request["files"]).collect()]
    if "table" in request:
        answer["rows"] = _stored(spark, request["table"])
    return answer


def _stored(spark: SparkSession, table: str) -> list[str]:
    """What a reader sees; nothing where no batch has written any: why, the query itself says."""
    try:
        rows = spark.read.parquet(table).selectExpr("CAST(data AS STRING)")
    except AnalysisException:
        return []
    return [row[0] for row in rows.collect()]


def _started(spark: SparkSession, request: dict[str, Any], collector: _Collector) -> StreamingQuery:
    reader = spark.readStream.format(request["format"]).options(**request["options"])
    if "source" in request:
        reader = reader.name(request["source"])
    frame = reader.load()
    if "files" in request:
        frame = frame.selectExpr("CAST(data AS STRING) AS value")
        writer = frame.writeStream.format("text").option("path", request["files"])
    elif "table" in request:
        writer = frame.writeStream.format("parquet").option("path", request["table"])
    else:
        writer = frame.writeStream.foreachBatch(collector)
    if "pause" in request:
        writer = writer.trigger(processingTime=request["pause"])
    return writer.option("checkpointLocation", request["checkpoint"]).start()


def _await_a_round(query: StreamingQuery) -> None:
    """Until the round that may be under way has ended, half a minute at the most."""
    before, until = _newest(query), time.monotonic() + 30
    while query.isActive and _newest(query) == before and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS / 10)


def _newest(query: StreamingQuery) -> str:
    latest = query.lastProgress
    return "" if latest is None else f"{latest['batchId']} {latest['timestamp']}"


def _quiet(
    query: StreamingQuery, last: float, since: str, request: dict[str, Any]
) -> bool:
    """Whether enough rounds since then (also those that plan no batch report) brought no row."""
    if time.monotonic() - last < request["quiet"]:
        return False
    rounds = [
        entry["numInputRows"] for entry in query.recentProgress[-request["idle"] :]
        if entry["timestamp"] >= since
    ]
    return len(rounds) == request["idle"] and not any(rounds)
