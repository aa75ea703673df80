"""Apache Iceberg for the PySpark that the tests run on, where its jar has been fetched.

Two catalogs are of the same tables: `lake` asks for a table anew each time, as other processes
would see it; `cached` is as Iceberg is without an option.
"""

from __future__ import annotations

from pathlib import Path

from tests.unit.spark import fetched


def jars() -> list[Path]:
    """Empty where there is no Iceberg for this release, or it has not been fetched."""
    return fetched.jars("iceberg")


def exists() -> bool:
    """Whether there is an Iceberg for this release, fetched or not."""
    return fetched.exists("iceberg")


def configuration(warehouse: Path) -> dict[str, str]:
    """What a session needs to read and write it (Iceberg's Spark configuration)."""
    if not jars():
        return {}
    made = {
        "spark.jars": ",".join(map(str, jars())),
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        "spark.sql.catalog.lake.cache-enabled": "false",
    }
    for name in ("lake", "cached"):
        made[f"spark.sql.catalog.{name}"] = "org.apache.iceberg.spark.SparkCatalog"
        made[f"spark.sql.catalog.{name}.type"] = "hadoop"
        made[f"spark.sql.catalog.{name}.warehouse"] = str(warehouse)
    return made
