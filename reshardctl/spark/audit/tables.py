"""Opens a table of Spark's catalog, at one version where its format has versions.

An audit passes over its sink more than once. Whether Spark looks for a newer version in between
depends on its release, the catalog and its caches, so a version is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reshardctl.spark.audit.table_version import Version, version
from reshardctl.spark.audit.unread import unread

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NAME = re.compile(r"[\w$`-]+(\.[\w$`-]+){0,3}")


@dataclass(frozen=True, slots=True)
class Table:
    """frame: of `version` only if `pinned`. version: `None` if the format has none."""

    frame: DataFrame
    version: Version | None = None
    pinned: bool = False


def is_name(sink: str) -> bool:
    """Whether this may be a table's name: one to four parts, no slash."""
    return _NAME.fullmatch(sink) is not None


def is_table(spark: SparkSession, sink: str) -> bool:
    """Whether there is such a table."""
    if not is_name(sink):
        return False
    try:
        return bool(spark.catalog.tableExists(sink))
    except Exception:
        return False


def table(spark: SparkSession, sink: str) -> Table:
    """The table. Raises UsageError and CannotTell like `unread`."""
    try:
        frame = spark.table(sink)
        schema = frame.schema
        at = version(spark, sink)
        if at is None or not at.number:
            return Table(frame, at)
        if at.fixed:
            return Table(frame, at, pinned=True)
        pinned = spark.sql(f"SELECT * FROM {at.table} VERSION AS OF {at.number}")  # noqa: S608
        # A snapshot of Iceberg has the columns of its time, the table those of today.
        if pinned.schema == schema:
            return Table(pinned, at, pinned=True)
        return Table(frame, at)
    except Exception as error:
        raise unread(sink, error) from error


def changed(spark: SparkSession, sink: str, opened: Table, rows: int) -> str:
    """How it changed since it was opened, when it had so many rows; "" if it did not."""
    if opened.pinned:
        return ""
    if opened.version is None:
        now = opened.frame.count()
        return "" if now == rows else f"it had {rows} rows, and then {now}"
    later = version(spark, sink)
    return "" if later == opened.version else f"it had {opened.version}, and then {later}"
