"""PySpark's JVM, with the Hadoop configuration that Spark itself would start with."""

from __future__ import annotations

from functools import cache
from typing import Any

from reshardctl.errors import CannotTell, UsageError

EXTRA = "pip install 'reshardctl[spark]'"


@cache
def gateway() -> Any:
    """py4j's, one for the process. UsageError without PySpark, CannotTell when no JVM starts."""
    try:
        from pyspark.java_gateway import launch_gateway
    except ImportError:
        raise UsageError("paths of Hadoop file systems need PySpark", EXTRA) from None
    try:
        return launch_gateway()
    except Exception as error:  # PySparkRuntimeError is newer than some releases that work
        said = str(error).partition("\n")[0] or type(error).__name__
        raise CannotTell(
            f"PySpark's JVM does not start: {said}",
            "java -version   (Spark 3 wants Java 8, 11 or 17, Spark 4 wants 17 or 21)",
        ) from None


def configuration(java: Any) -> Any:
    """core-site.xml and the like, and `spark.hadoop.*` of spark-defaults.conf."""
    conf = java.org.apache.spark.SparkConf()
    return java.org.apache.spark.deploy.SparkHadoopUtil.get().newConfiguration(conf)
