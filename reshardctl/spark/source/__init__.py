"""`kinesis-lineage`: a Spark source for Kinesis that reads parents before children.

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
    """Registers the format `kinesis-lineage` in a session; raises UsageError before PySpark 4.0."""
    release = tuple(map(int, str(spark.version).split(".")[:2]))
    if release < OLDEST:
        raise UsageError(
            f"kinesis-lineage needs Spark 4.0 or later, this session runs {spark.version}",
            "use a JVM connector there; reshardctl repairs its checkpoints all the same",
        )
    from reshardctl.spark.source.datasource import with_tasks

    spark.dataSource.register(with_tasks(_tasks(spark)))


MOST = 64
"""Tasks of a batch at most, if neither the cores are known nor option shardsPerTask is given."""
A_CORE = 4
"""The same for each core: to start a task in Python takes a core some 50 ms."""


def _tasks(spark: Any) -> int:
    """Most tasks of a batch, unless option shardsPerTask says otherwise.

    A cluster may have more cores later than it has now.
    """
    try:
        context = spark.sparkContext
        cores, local = int(context.defaultParallelism), str(context.master).startswith("local")
    except Exception:  # Spark Connect has none, and names its reason differently in each release
        return MOST
    return A_CORE * cores if local else max(A_CORE * cores, MOST)
