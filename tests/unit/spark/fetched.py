"""Delta Lake and Iceberg for the PySpark that the tests run on, where their jars have been fetched.

Their releases are built for one release of Spark each: there are some for 3.5 and for 4.0, and in
November 2026 none for 4.3 (Maven Central, io.delta and org.apache.iceberg).
tests/proof/libraries/build fetches them.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

FETCHED = Path(__file__).parents[2] / "proof" / "libraries" / "spark"


def release() -> str:
    """Of PySpark, as "3.5"; "" where there is none."""
    try:
        return ".".join(metadata.version("pyspark").split(".")[:2])
    except metadata.PackageNotFoundError:
        return ""


def jars(name: str) -> list[Path]:
    """Empty where there is none for this release, or it has not been fetched."""
    return sorted((FETCHED / f"{name}-{release()}" / "target" / "lib").glob("*.jar"))


def exists(name: str) -> bool:
    """Whether there is one for this release, fetched or not."""
    return (FETCHED / f"{name}-{release()}").is_dir()


needs_delta = pytest.mark.skipif(
    not exists("delta"), reason="no release of Delta Lake is for this one of Spark"
)


def configuration(warehouse: Path) -> dict[str, str]:
    """What a session needs to read and write both; what several of them say is one list."""
    made: dict[str, str] = {}
    for name, one in (("delta", DELTA), ("iceberg", iceberg(warehouse))):
        if found := jars(name):
            for key, value in {**one, "spark.jars": ",".join(map(str, found))}.items():
                made[key] = f"{made[key]},{value}" if key in made else value
    return made


DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Each look at a table's log is that many tasks; fifty, where nothing is said.
    "spark.databricks.delta.snapshotPartitions": "1",
}
"""Delta Lake's quick start, and small tables."""


def iceberg(warehouse: Path) -> dict[str, str]:
    """Iceberg's Spark configuration, with two catalogs of the same tables: `lake` asks for a table
    anew each time, as other processes would see it; `cached` is as Iceberg is without an option."""
    made = {
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
