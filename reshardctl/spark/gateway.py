"""PySpark's JVM, with the Hadoop configuration with which Spark itself would start."""

from __future__ import annotations

from functools import cache
from typing import Any

from reshardctl.errors import CannotTell, UsageError, install

EXTRA = install("spark")


def gateway() -> Any:
    """The py4j gateway of the process's Spark, else one of its own.

    PySpark has one JVM for a process, and asks it about the errors of every other one
    (pyspark.errors.exceptions.captured), which fails: whoever needs both starts Spark first.

    Raises:
        UsageError: PySpark is not installed.
        CannotTell: Java does not start.
    """
    try:
        from pyspark import SparkContext
    except ImportError:
        raise UsageError("paths of Hadoop file systems need PySpark", EXTRA) from None
    return SparkContext._gateway or _launched()


@cache
def _launched() -> Any:
    from reshardctl.spark.jvm import launched, quiet

    try:
        gateway, _ = launched(quiet())
    except Exception as error:  # PySparkRuntimeError is newer than some releases that work
        message = str(error).partition("\n")[0] or type(error).__name__
        raise CannotTell(
            f"PySpark's JVM does not start: {message}",
            "java -version   (Spark 3 wants Java 8, 11 or 17, Spark 4 wants 17 or 21)",
        ) from None
    return gateway


def configuration(java: Any) -> Any:
    """The configuration of core-site.xml etc. and of `spark.hadoop.*` in spark-defaults.conf."""
    conf = java.org.apache.spark.SparkConf()
    return java.org.apache.spark.deploy.SparkHadoopUtil.get().newConfiguration(conf)
