"""Where the environments and jars lie that tests/proof/libraries/run makes; are they there?"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE / "target"
INSIDE = HERE / "inside"
"""The program that runs in PySpark's environment."""
CONNECTORS = ("qubole", "dstreams")
"""Both are built for Scala 2.12, so for PySpark 3.5."""


def missing(release: str) -> str | None:
    """What keeps this release of Spark from running here; None when nothing does."""
    if shutil.which("java") is None:
        return "java is not installed"
    if not python(release).exists():
        return f"PySpark {release} is not installed; tests/proof/libraries/run does it"
    if release == "3.5" and (absent := [each for each in CONNECTORS if not jars(each)]):
        return f"not fetched: {absent}; tests/proof/libraries/run does it"
    return None


def python(release: str) -> Path:
    """The Python of the environment that holds this release ("3.5", "4.0" or "4")."""
    return TARGET / f"spark-{release}" / "bin" / "python"


def quick(release: str) -> dict[str, str]:
    """Variables with which Spark's JVM starts quickly.

    The archive of classes, which `environments` made, is ignored where it does not fit the Java.
    """
    archive = TARGET / f"spark-{release}" / "classes.jsa"
    options = (
        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
        f"-XX:SharedArchiveFile={archive}", "-Xlog:disable",
    )
    return {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SUBMIT_OPTS": " ".join(options)}


def beside(release: str, *more: Path) -> dict[str, str]:
    """Variables that put PySpark of this release beside the environment that runs the tests.

    more: directories of modules.
    """
    packages = python(release).parents[1].glob("lib/python3*/site-packages")
    return {
        **quick(release),
        "PYTHONPATH": os.pathsep.join(map(str, [*packages, HERE.parents[3], *more])),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def unfetched(connector: str) -> str | None:
    """What keeps a connector's jars from being used here; None when nothing does."""
    if jars(connector):
        return None
    return f"not fetched: {connector}; tests/proof/libraries/build does it"


def jars(connector: str) -> list[Path]:
    """The pinned jars of a connector and of what it needs."""
    return sorted((HERE / connector / "target" / "lib").glob("*.jar"))
