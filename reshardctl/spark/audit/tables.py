"""Opens a table of Spark's catalog, at one version where its format has versions, or files.

An audit passes over its sink more than once. Whether Spark looks for a newer version in between
depends on its release, the catalog and its caches, so a version is named. The version is Iceberg's
snapshot or Delta Lake's version.

Folders of tables of Iceberg, Hudi and Delta Lake are refused as directories of plain files. Such a
folder also holds files that no version of the table has any more, or never had: rows that were
deleted, written again by a compaction, or left by a write that failed.

Files below a path are listed with Spark, so any file system that it knows works; none is opened. If
Spark cannot read a sink, the error says what is missing, and what to give it.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from reshardctl.errors import CannotTell, ReshardError, UsageError
from reshardctl.spark.audit.commits import DELTA_LOG
from reshardctl.spark.functions import F, full_message, line
from reshardctl.spark.hadoop_owners import next_step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_REFERENCE = re.compile(r"(?:branch|tag)_(.+)")
_FIXED = re.compile(r"(?:snapshot_id|at_timestamp)_[0-9]+")
"""Last parts of an Iceberg table's name in Spark (SparkCatalog.load)."""


class Version(Struct, frozen=True):
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


_FILE = re.compile(r"\b(?:file|s3a?|hdfs|gs|abfss?|wasbs?|dbfs):/[^\s,;\"']*[^\s,;\"'.]")
_NO_CONNECTOR = re.compile(r"Class (org\.apache\.hadoop\.fs\.\S+) not found")
_NO_CLASS = re.compile(r"NoClassDefFoundError: (\S+)")
_NO_CATALOG = re.compile(
    r"REQUIRES_SINGLE_PART_NAMESPACE|CATALOG_NOT_FOUND|Cannot find catalog plugin class"
)
_OTHER_SPARK = re.compile(
    r"(?:IncompatibleClassChangeError|NoSuchMethodError|NoSuchFieldError|AbstractMethodError): (.+)"
)
_NO_SCHEME = ("No FileSystem for scheme", "UnsupportedFileSystemException")


def unread(sink: str, error: Exception) -> ReshardError:
    """UsageError if another name or package helps, else CannotTell with the file's name."""
    text = full_message(error)
    if "TABLE_OR_VIEW_NOT_FOUND" in text:
        return UsageError(f"there is no table {sink}", "name it as CATALOG.DATABASE.TABLE")
    if _NO_CATALOG.search(text):
        catalog = sink.split(".")[0]
        return UsageError(
            f"this Spark has no catalog {catalog}: {line(text)}",
            f"give it the catalog's package and spark.sql.catalog.{catalog} "
            "(docs/audit.md, Iceberg and other tables)",
        )
    if unfit := _OTHER_SPARK.search(text):
        return UsageError(
            f"a package that this Spark was given is made for another release: {unfit[1][:200]}",
            "give it the package for this release of Spark, or take a PySpark that has one",
        )
    if missing := _NO_CONNECTOR.search(text):
        return UsageError(f"this Spark has no connector for {sink}: no {missing[1]}", _give(sink))
    if missing := _NO_CLASS.search(text):
        lacking = missing[1].replace("/", ".")
        return UsageError(f"this Spark cannot read {sink}: it has no {lacking}", _give(sink))
    if any(scheme in text for scheme in _NO_SCHEME):
        return UsageError(f"this Spark cannot read {sink}: {line(text)}", _give(sink))
    named = _FILE.search(text)
    where = f" ({named[0]})" if named and named[0] not in sink else ""
    return CannotTell(f"cannot read {sink}: {line(text)}{where}", next_step(text))


def _give(sink: str) -> str:
    """How to get the connector."""
    if sink.startswith("s3:"):
        return f"outside of EMR Spark spells it s3a://: {sink.replace('s3:', 's3a:', 1)}"
    if sink.startswith("s3a:"):
        package = f"org.apache.hadoop:hadoop-aws:{hadoop()}"
        return (
            "give it Hadoop's, of the release that Spark has: "
            f"PYSPARK_SUBMIT_ARGS='--packages {package} pyspark-shell'"
        )
    return "put its connector into spark.jars.packages of spark-defaults.conf"


def hadoop() -> str:
    """The Hadoop release, by the jars of the installed PySpark; `RELEASE` if none shows it."""
    spec = importlib.util.find_spec("pyspark")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        for jar in sorted(Path(folder, "jars").glob("hadoop-client-api-*.jar")):
            return jar.stem.removeprefix("hadoop-client-api-")
    return "RELEASE"


_NAME = re.compile(r"[\w$`-]+(\.[\w$`-]+){0,3}")


class Table(Struct, frozen=True):
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


_COMPRESSED = r"\.(?:gz|gzip|bz2|zst|zstd|snappy|lz4|deflate)$"


class Files(Struct, frozen=True):
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
    plain = F.regexp_replace("path", f"(?i){_COMPRESSED}", "")
    ending = F.regexp_extract(plain, r"\.([A-Za-z0-9]+)$", 1)
    # A sum of 31 bits each, which no number of files makes too large.
    digest = F.xxhash64("path", "length", "modificationTime").bitwiseAND((1 << 31) - 1)
    rows = found.groupBy(ending.alias("ending")).agg(
        F.count("*").alias("count"), F.sum("length").alias("size"), F.sum(digest).alias("digest")
    ).collect()  # fmt: skip
    # Here, not by Spark: its LOWER loads all of Unicode's cases first, which takes seconds (4.3).
    endings: Counter[str] = Counter()
    for row in rows:
        endings[row["ending"].lower()] += row["count"]
    return Files(
        sum(row["count"] for row in rows), sum(row["size"] for row in rows),
        sum(row["digest"] for row in rows), endings,
    )  # fmt: skip


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
