"""Which version a table of Spark's catalog is at: Iceberg's snapshot, Delta Lake's version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REFERENCE = re.compile(r"(?:branch|tag)_(.+)")
_FIXED = re.compile(r"(?:snapshot_id|at_timestamp)_[0-9]+")
"""Last parts of an Iceberg table's name in Spark (SparkCatalog.load)."""


@dataclass(frozen=True, slots=True)
class Version:
    """number: "" if the table has none yet. table: its name, without what is chosen of it.

    fixed: the name that was given says which version it is.
    """

    kind: str
    number: str
    table: str
    fixed: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.number}" if self.number else f"no {self.kind}"


def version(spark: SparkSession, name: str) -> Version | None:
    """`None` if the table's format has no versions, or does not tell them."""
    try:
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    except Exception:
        return None
    # Columns come first, and may be called the same.
    said = {row["col_name"]: row["data_type"] for row in rows}
    provider = (said.get("Provider") or "").lower()
    if provider == "iceberg":
        return _snapshot(spark, name, said["Name"])
    if provider == "delta":
        return _delta_version(spark, name)
    return None


def _snapshot(spark: SparkSession, name: str, table: str) -> Version:
    """table: the name in full, without a branch or the like."""
    *parts, last = re.findall(r"`(?:[^`]|``)+`|[^.`]+", name)
    plain, reference = last.strip("`"), "main"
    if plain != table.rpartition(".")[2].strip("`"):
        if _FIXED.fullmatch(plain):
            return Version("snapshot", plain, ".".join(parts), fixed=True)
        if chosen := _REFERENCE.fullmatch(plain):
            name, reference = ".".join(parts), chosen[1]
    found = spark.table(f"{name}.refs").where(F.col("name") == reference).collect()
    return Version("snapshot", str(found[0]["snapshot_id"]) if found else "", name)


def _delta_version(spark: SparkSession, name: str) -> Version | None:
    try:
        newest = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()
    except Exception:
        return None
    return Version("version", str(newest[0]["version"]), name)
