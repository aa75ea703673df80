"""A streaming query in a process of its own, which can be killed at any point.

Runs with PySpark and the project on its path. Its argument is the configuration, as JSON: `conf`,
`register` ("module:function" that registers the source). In: a line of JSON per order, {"do":
"start", ...} or {"do": "stop"}. Out, on standard output: {"is": "ready" | "started" | "stopped" |
"died" | "over", ...}. It ends when its input does.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

ANSWERS = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
SPEAKING = threading.Lock()


class Batches:
    """A sink: a file per attempt at a batch, there whole or not at all; dies where it is told."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._folder = Path(order["folder"])
        self._start = int(order["number"])
        self._columns: list[str] = order["columns"]
        self._point = order.get("die", {})

    def __call__(self, frame: DataFrame, batch: int) -> None:
        rows = [list(row) for row in frame.selectExpr(*self._columns).collect()]
        self._strike("before", batch)
        path = self._folder / f"{batch:06d}.{self._start:04d}.json"
        half = path.with_suffix(".part")
        text = json.dumps(rows)
        with half.open("w") as file:
            file.write(text[: len(text) // 2])
            file.flush()
            self._strike("within", batch)
            file.write(text[len(text) // 2 :])
        half.rename(path)
        self._strike("after", batch)

    def _strike(self, where: str, batch: int) -> None:
        """Kill all of this process's group, or fail, at the point that was ordered."""
        if self._point.get("where") != where or batch < self._point["batch"]:
            return
        if self._point["how"] == "kill":
            os.killpg(os.getpgid(0), signal.SIGKILL)
        raise RuntimeError(f"the sink was told to fail {where} writing batch {batch}")


def main() -> None:
    """Start Spark, register the source, and do as told."""
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    given = json.loads(sys.argv[1])
    builder = SparkSession.builder.appName("soak")
    for name, value in given["conf"].items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    module, function = given["register"].split(":")
    getattr(importlib.import_module(module), function)(spark)
    _say({"is": "ready", "version": spark.version})
    query: StreamingQuery | None = None
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "start":
            query = _start(spark, order)
        elif query is not None:
            query.stop()
            _say({"is": "stopped"})
    os._exit(0)


def _start(spark: SparkSession, order: dict[str, Any]) -> StreamingQuery:
    # Said first: the sink may be told to kill all of this before the query has begun for us.
    _say({"is": "started", "number": order["number"]})
    frame = spark.readStream.format(order["format"]).options(**order["options"]).load()
    if order["sink"] == "file":
        chosen = frame.selectExpr(*order["columns"])
        writer = chosen.writeStream.format("json").option("path", order["folder"])
    else:
        writer = frame.writeStream.foreachBatch(Batches(order))
    query = (
        writer.option("checkpointLocation", order["checkpoint"]).trigger(**order["trigger"]).start()
    )
    threading.Thread(target=_watch, args=(query, order["number"]), daemon=True).start()
    return query


def _watch(query: StreamingQuery, number: int) -> None:
    """Tell when the query ends by itself."""
    try:
        query.awaitTermination()
    except Exception as failure:
        _say({"is": "died", "number": number, "why": str(failure)[:6000]})
    else:
        _say({"is": "over", "number": number})


def _say(answer: dict[str, Any]) -> None:
    with SPEAKING:
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    main()
