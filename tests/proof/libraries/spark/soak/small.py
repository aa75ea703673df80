"""The small source of these tests, as a stand-in: the harness has to pass with it as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.proof.libraries.spark.soak.scenes import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = Source(
    register="tests.proof.libraries.spark.soak.small:register",
    columns=("shard", "sequence AS number", "data"),
    endpoint="endpoint",
    more=(),
    optional=False,
)


def register(spark: SparkSession) -> None:
    """Register tests/proof/libraries/spark/inside/lineage_source.py."""
    from lineage_source import LineageSource  # type: ignore[import-not-found]

    spark.dataSource.register(LineageSource)
