"""Where the environments and jars lie that tests/interop/run makes, and whether they are there."""

from __future__ import annotations

import shutil
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
        return f"PySpark {release} is not installed; tests/interop/run does it"
    if release == "3.5" and (absent := [each for each in CONNECTORS if not jars(each)]):
        return f"not fetched: {absent}; tests/interop/run does it"
    return None


def python(release: str) -> Path:
    """The Python of the environment that holds this release ("3.5", "4.0" or "4")."""
    return TARGET / f"spark-{release}" / "bin" / "python"


def jars(connector: str) -> list[Path]:
    """The pinned jars of a connector and of what it needs."""
    return sorted((HERE / connector / "target" / "lib").glob("*.jar"))
