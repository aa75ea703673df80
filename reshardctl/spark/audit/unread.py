"""Why Spark cannot read a sink: what is missing, and what to give it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from reshardctl.errors import CannotTell, ReshardError, UsageError
from reshardctl.spark.error_text import full_message, line
from reshardctl.spark.hadoop_faults import next_step

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
