"""Lists the files below a path with Spark, so any file system that it knows works; opens none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reshardctl.spark.audit.unread import unread
from reshardctl.spark.error_text import full_message
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COMPRESSED = r"\.(?:gz|gzip|bz2|zst|zstd|snappy|lz4|deflate)$"


@dataclass(frozen=True, slots=True)
class Files:
    """Totals of a directory; equal only if nothing was written in between."""

    count: int
    size: int
    digest: int
    endings: Mapping[str, int]


def listed(spark: SparkSession, path: str, sink: str) -> DataFrame | None:
    """path, length, modificationTime of all files below. `None`: no such path.

    sink: what a failure is told of. A path may have the wildcards of Hadoop.
    """
    try:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path)
        files.schema  # noqa: B018  on a Connect server, only now is it looked at
    except Exception as error:
        text = full_message(error)
        if "PATH_NOT_FOUND" in text or "does not exist" in text:
            return None
        raise unread(sink, error) from error
    return files.select("path", "length", "modificationTime")


def files_of(spark: SparkSession, path: str) -> Files | None:
    """The totals; `None`: no such path."""
    found = listed(spark, path, path)
    if found is None:
        return None
    plain = F.regexp_replace(F.lower("path"), _COMPRESSED, "")
    ending = F.regexp_extract(plain, r"\.([a-z0-9]+)$", 1)
    # A sum of 31 bits each, which no number of files makes too large.
    digest = F.xxhash64("path", "length", "modificationTime").bitwiseAND((1 << 31) - 1)
    rows = found.groupBy(ending.alias("ending")).agg(
        F.count("*").alias("count"), F.sum("length").alias("size"), F.sum(digest).alias("digest")
    ).collect()  # fmt: skip
    return Files(
        sum(row["count"] for row in rows), sum(row["size"] for row in rows),
        sum(row["digest"] for row in rows), {row["ending"]: row["count"] for row in rows},
    )  # fmt: skip
