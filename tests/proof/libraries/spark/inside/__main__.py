"""One Spark session that runs what it is asked, a line of JSON at a time, until its input ends.

Runs in PySpark's own environment, so it imports nothing of the project, but where it is told to
register the project's own source (RESHARDCTL_REGISTERS). In: a request per line,
`{"id": 1, "what": "query" | "more" | "receivers", ...}`; queries.py and dstreams.py say what they
take. Out, on standard output: `{"id": 1, ...}` per request, in any order, and first
`{"ready": release}`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from typing import Any

import dstreams
import queries
from pyspark.sql import SparkSession

# Spark and the JVM below it may print; answers have a pipe of their own.
ANSWERS = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
SPEAKING = threading.Lock()
KINDS = {"query": queries.run, "more": queries.more, "receivers": dstreams.run}


def main() -> None:
    """Start Spark with the configuration of the first argument, and serve."""
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    builder = SparkSession.builder.appName("interop")
    for name, value in json.loads(sys.argv[1]).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    if "RESHARDCTL_REGISTERS" in os.environ:
        from reshardctl.spark.source import register

        register(spark)
    elif spark.version >= "4":
        from lineage_source import LineageSource

        spark.dataSource.register(LineageSource)
    _say({"ready": spark.version})
    threads = []
    for line in sys.stdin:
        threads.append(threading.Thread(target=_serve, args=(spark, json.loads(line)), daemon=True))
        threads[-1].start()
    spark.stop()


def _serve(spark: SparkSession, request: dict[str, Any]) -> None:
    try:
        answer = KINDS[request["what"]](spark, request)
    except Exception:
        answer = {"broken": traceback.format_exc()}
    _say({"id": request["id"], **answer})


def _say(answer: dict[str, Any]) -> None:
    with SPEAKING:
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    main()
