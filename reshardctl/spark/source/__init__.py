"""`kinesis-lineage`: Kinesis as a source of Spark, parent before child, nothing lost in a reshard.

    from reshardctl.spark.source import register

    register(spark)
    spark.readStream.format("kinesis-lineage").option("streamName", "orders")…

Needs PySpark 4.0 or later, on the driver and on the executors, and this package on both.
"""

from __future__ import annotations

from typing import Any

from reshardctl.errors import UsageError

OLDEST = (4, 0)
"""The first PySpark with streaming data sources in Python."""


def register(spark: Any) -> None:
    """Make the format `kinesis-lineage` known to this session. UsageError before PySpark 4.0."""
    found = tuple(map(int, str(spark.version).split(".")[:2]))
    if found < OLDEST:
        raise UsageError(
            f"kinesis-lineage needs Spark 4.0 or later, this session runs {spark.version}",
            "use a JVM connector there; reshardctl repairs its checkpoints all the same",
        )
    from reshardctl.spark.source.datasource import KinesisLineage

    spark.dataSource.register(KinesisLineage)
