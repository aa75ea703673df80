"""Starts PySpark's JVM for a command and filters a warning of every start from its stderr.

Each start of Spark 4.3 uses an incubating module of Java, and Java warns of it on stderr before
anything of Spark's could be configured.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any

_QUIET = Path(__file__).with_name("quiet.properties")
_EVERY_START = re.compile(rb"WARNING: Using incubator modules: [\w., ]+\r?\n?")
_CHUNK = 1 << 16


def start(settings: Mapping[str, str]) -> None:
    """Start the JVM of Spark's sessions, unless this process has one.

    settings: Spark's. Raises what PySpark raises.
    """
    from pyspark import SparkContext

    if SparkContext._gateway is None:
        gateway, conf = launched(settings)
        SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def launched(settings: Mapping[str, str]) -> tuple[Any, Any]:
    """A new JVM's gateway, and the SparkConf that it was started with; see `start`."""
    from pyspark import SparkConf
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf()
    for name, value in settings.items():
        conf.set(name, value)
    reading, writing = os.pipe()
    Thread(target=pass_on, args=(reading, 2), daemon=True).start()
    try:
        return launch_gateway(conf, {"stderr": writing}), conf
    finally:
        os.close(writing)


def quiet() -> dict[str, str]:
    """Settings with which the JVM says errors only; none where the operator has their own."""
    if {"SPARK_HOME", "SPARK_CONF_DIR"} & os.environ.keys():
        return {}
    return {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET.as_uri()}"}


def pass_on(reading: int, to: int) -> None:
    """Copy everything at once until the writers have closed the pipe."""
    try:
        while chunk := os.read(reading, _CHUNK):
            left = memoryview(_EVERY_START.sub(b"", chunk))
            while left:
                left = left[os.write(to, left) :]
    except OSError:
        pass
    finally:
        os.close(reading)
