"""Delta Lake for the PySpark that the tests run on, where its jar has been fetched."""

from __future__ import annotations

from pathlib import Path

from tests.unit.spark import fetched


def jars() -> list[Path]:
    """Empty where there is no Delta for this release, or it has not been fetched."""
    return fetched.jars("delta")


def exists() -> bool:
    """Whether there is a Delta for this release, fetched or not."""
    return fetched.exists("delta")


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
