"""PySpark's JVM, with the Hadoop configuration with which Spark itself would start."""

from __future__ import annotations

from functools import cache
from typing import Any

from reshardctl.errors import CannotTell, UsageError, install

EXTRA = install("spark")


@cache
def gateway() -> Any:
    """The process's py4j gateway; raises UsageError without PySpark, CannotTell without a JVM."""
    try:
        from pyspark.java_gateway import launch_gateway
    except ImportError:
        raise UsageError("paths of Hadoop file systems need PySpark", EXTRA) from None
    try:
        return launch_gateway()
    except Exception as error:  # PySparkRuntimeError is newer than some releases that work
        message = str(error).partition("\n")[0] or type(error).__name__
        raise CannotTell(
            f"PySpark's JVM does not start: {message}",
            "java -version   (Spark 3 wants Java 8, 11 or 17, Spark 4 wants 17 or 21)",
        ) from None


def configuration(java: Any) -> Any:
    """The configuration of core-site.xml etc. and of `spark.hadoop.*` in spark-defaults.conf."""
    conf = java.org.apache.spark.SparkConf()
    return java.org.apache.spark.deploy.SparkHadoopUtil.get().newConfiguration(conf)
