"""One Spark session for all tests of a process, where PySpark is installed.

Run them with an environment's PySpark beside our own packages:

    spark=tests/proof/libraries/spark/target/spark-4/bin/python
    PYTHONPATH=$($spark -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
      .venv/bin/python -m pytest tests/unit/spark

With RESHARDCTL_NEED_SPARK=1 a missing PySpark fails the tests instead of skipping them. With
RESHARDCTL_SPARK_INTERPRETED=1 Spark compiles no query: each is small, and compiling takes longer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.made_up_aws import MADE_UP
from tests.support.needs import needs
from tests.unit.spark import fetched
from tests.unit.spark.settings import CONFIGURATION, INTERPRETED


@pytest.fixture(scope="session")
@needs("pyspark")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A `SparkSession` with two threads and a gigabyte, on the loopback; ended with the tests."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ.update(MADE_UP)  # the JVM hands on to Python's workers what it was started with
    os.environ.pop("SPARK_HOME", None)
    builder = SparkSession.builder.master("local[2]").appName("reshardctl-tests")
    interpreted = INTERPRETED if os.environ.get("RESHARDCTL_SPARK_INTERPRETED") == "1" else {}
    home = tmp_path_factory.mktemp("warehouse")
    formats = fetched.configuration(home / "iceberg")
    for name, value in {**CONFIGURATION, **interpreted, **formats}.items():
        builder = builder.config(name, value)
    session = builder.config("spark.sql.warehouse.dir", str(home)).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
