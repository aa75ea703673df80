"""What a sink's own log of commits proves: up to where it is complete, and its last batch.

A streaming query hands on its batches one after the other, each whole or not at all. So if only one
query has written a sink, all that its source returned before the newest rows is there. This does
not hold for a table to which anything else has added rows, or from which rows were removed: records
that were skipped look like any others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reshardctl.model.files import on_this_machine
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_LOG = "_spark_metadata"
DELTA_LOG = "_delta_log"
STREAMED = "STREAMING UPDATE"
"""The name of Delta's own streaming sink for its commits (DeltaOperations.StreamingUpdate); those
of foreachBatch are "WRITE", whatever was left out of them."""
_BATCH = re.compile(r"([0-9]+)(?:\.compact)?\Z", re.ASCII)
_SCHEMA = (
    "commitInfo STRUCT<timestamp: BIGINT, operation: STRING>, txn STRUCT<appId: STRING>, "
    "add STRUCT<dataChange: BOOLEAN>, remove STRUCT<dataChange: BOOLEAN>"
)


class Proof(Struct, frozen=True):
    """Why a sink is known to hold whole batches of one query; text: "" if it is not.

    since: Unix seconds before which its log is gone, `None` if it reaches back to the sink's
    beginning. batch: the last in the log of Spark's file sink.
    """

    text: str = ""
    since: float | None = None
    batch: int | None = None

    def reaching(self, oldest: float) -> str:
        """The text, "" if records as old as `oldest` may be older than the log."""
        return self.text if self.since is None or self.since <= oldest else ""


NONE = Proof()
"""Nothing is proven."""


def of_file_sink(spark: SparkSession, sink: str) -> Proof:
    """The proof of Spark's file sink, which skips every batch whose number its log has.

    Spark hides that log from its own listings. If there is no JVM to ask, as on a Connect server,
    and this machine cannot read it either, nothing is proven.
    """
    batches = [int(m[1]) for name in _names(spark, sink) if (m := _BATCH.match(name))]
    if not batches:
        return NONE
    text = f"only files that batches of Spark's file sink have committed ({FILE_LOG}) count"
    return Proof(text, batch=max(batches))


def _names(spark: SparkSession, sink: str) -> Iterable[str]:
    log = f"{sink.rstrip('/')}/{FILE_LOG}"
    java: Any = getattr(spark, "_jvm", None) if "connect" not in type(spark).__module__ else None
    if java is None:
        local = on_this_machine(log)
        if local is None or not Path(local).is_dir():
            return []
        return [entry.name for entry in Path(local).iterdir()]
    path = java.org.apache.hadoop.fs.Path(log)
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    system = path.getFileSystem(configuration)
    if not system.exists(path):
        return []
    return [status.getPath().getName() for status in system.listStatus(path)]


def of_delta(spark: SparkSession, sink: str, version: int) -> Proof:
    """The proof of a Delta version: one streaming query added rows; OPTIMIZE may move them."""
    commits = _commits(spark, sink, version)
    rows = [commit for commit in commits if commit["added"] or commit["taken"]]
    queries = {commit["query"] for commit in rows}
    ours = all(commit["operation"] == STREAMED and not commit["taken"] for commit in rows)
    if not rows or not ours or len(queries) != 1 or None in queries:
        return NONE
    text = f"version {version} of the Delta table: whole batches of one streaming query only"
    first = min(commits, key=lambda commit: int(commit["version"]))
    if len(commits) != version - first["version"] + 1:
        return NONE
    if first["version"] == 0:
        return Proof(text)
    return Proof(text, inf if first["timestamp"] is None else first["timestamp"] / 1000)


def _commits(spark: SparkSession, sink: str, version: int) -> list[Any]:
    """A row for each commit still in the log; Delta removes those older than 30 days."""
    log = spark.read.schema(_SCHEMA).json(f"{sink.rstrip('/')}/{DELTA_LOG}/*.json")
    name = F.regexp_extract(F.input_file_name(), r"/([0-9]{20})\.json$", 1)
    commits: list[Any] = log.withColumn("version", name.cast("bigint")).where(
        F.col("version") <= version
    ).groupBy("version").agg(
        F.first("commitInfo.operation", ignorenulls=True).alias("operation"),
        F.first("commitInfo.timestamp", ignorenulls=True).alias("timestamp"),
        F.first("txn.appId", ignorenulls=True).alias("query"),
        F.coalesce(F.bool_or("add.dataChange"), F.lit(False)).alias("added"),
        F.coalesce(F.bool_or("remove.dataChange"), F.lit(False)).alias("taken"),
    ).collect()  # fmt: skip
    return commits
