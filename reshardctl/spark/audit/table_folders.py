"""Refuses folders of tables of Iceberg, Hudi and Delta Lake as directories of plain files.

Such a folder also holds files that no version of the table has any more, or never had: rows that
were deleted, written again by a compaction, or left by a write that failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reshardctl.errors import CannotTell, UsageError
from reshardctl.spark.audit.commits import DELTA_LOG
from reshardctl.spark.audit.listing import listed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTITIONS = re.compile(r"(?:/[^/=]+=[^/]*)+\Z")
_MORE = "its folder holds rows that the table does not have any more, too"
_BY_NAME = (
    "name it as Spark's catalog does: CATALOG.DATABASE.TABLE --form table "
    "(docs/audit.md, Iceberg and other tables, has the options of Spark)"
)


def refuse(spark: SparkSession, sink: str) -> None:
    """UsageError if the path is the folder of such a table or lies inside of one."""
    root = sink.rstrip("/")
    for folder in _iceberg_roots(root):
        if _there(spark, sink, folder, "metadata/*.metadata.json*"):
            raise UsageError(f"{folder} is an Iceberg table: {_MORE}", _BY_NAME)
    # The first lies in the folder of the table, the other in that of each of its partitions.
    for mark in (".hoodie/hoodie.properties", ".hoodie_partition_metadata*"):
        if _there(spark, sink, root, mark):
            raise UsageError(f"{root} belongs to a Hudi table: {_MORE}", _BY_NAME)
    folder = _PARTITIONS.sub("", root)
    if _there(spark, sink, folder, f"{DELTA_LOG}/*.json"):
        raise UsageError(
            f"{folder} is a Delta table: {_MORE}",
            f"name the table: {folder} --form delta",
        )


def _iceberg_roots(root: str) -> Iterator[str]:
    """The folder, and those of which it may be the data, the nearest first."""
    yield root
    for found in reversed(list(re.finditer(r"/data(?=/|\Z)", root))):
        if found.start():
            yield root[: found.start()]


def _there(spark: SparkSession, sink: str, folder: str, mark: str) -> bool:
    try:
        return listed(spark, f"{folder}/{mark}", sink) is not None
    except CannotTell:
        if folder == sink.rstrip("/"):
            raise
        return False  # whoever may read a folder need not be allowed to read those above it
