"""Starts PySpark's JVM for a command and filters a warning of every start from its stderr.

Each start of Spark 4.3 uses an incubating module of Java, and Java warns of it on stderr before
anything of Spark's could be configured.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from threading import Thread

_EVERY_START = re.compile(rb"WARNING: Using incubator modules: [\w., ]+\r?\n?")
_CHUNK = 1 << 16


def start(settings: Mapping[str, str]) -> None:
    """Start the JVM, unless this process has one. settings: Spark's. Raises what PySpark raises."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    conf = SparkConf()
    for name, value in settings.items():
        conf.set(name, value)
    reading, writing = os.pipe()
    Thread(target=pass_on, args=(reading, 2), daemon=True).start()
    try:
        gateway = launch_gateway(conf, {"stderr": writing})
    finally:
        os.close(writing)
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)


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
