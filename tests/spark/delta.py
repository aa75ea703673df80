"""Delta Lake for the PySpark that the tests run on, where its jar has been fetched.

Releases of Delta are built for one release of Spark each: there is one for 3.5 and one for 4.0,
and in November 2026 none for 4.3 (Maven Central, io.delta). tests/interop/run fetches both.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

FETCHED = Path(__file__).parent.parent / "interop" / "spark"


def release() -> str:
    """Of PySpark, as "3.5"; "" where there is none."""
    try:
        return ".".join(metadata.version("pyspark").split(".")[:2])
    except metadata.PackageNotFoundError:
        return ""


def jars() -> list[Path]:
    """Empty where there is no Delta for this release, or it has not been fetched."""
    return sorted((FETCHED / f"delta-{release()}" / "target" / "lib").glob("*.jar"))


def exists() -> bool:
    """Whether there is a Delta for this release, fetched or not."""
    return (FETCHED / f"delta-{release()}").is_dir()


def configuration() -> dict[str, str]:
    """What a session needs to read and write it (Delta Lake's quick start), and small tables."""
    if not jars():
        return {}
    return {
        "spark.jars": ",".join(map(str, jars())),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Each look at a table's log is that many tasks; fifty, where nothing is said.
        "spark.databricks.delta.snapshotPartitions": "1",
    }
