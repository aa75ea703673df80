"""Where tests/interop/run leaves what it builds with Go, and whether it is there."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.interop.kcl.built import jar

HERE = Path(__file__).parent
TARGET = HERE / "target"
PROGRAMS = {"kinsumer": "kinsumer", "kinesis-consumer": "kinesis_consumer"}
"""The folder of a library's program, which is the program's name too."""


def program(consumer: str) -> Path:
    """What runs one library, many applications at a time."""
    return TARGET / PROGRAMS[consumer]


def missing(consumer: str) -> str | None:
    """What keeps the real library from running here; None when nothing does."""
    if not program(consumer).exists():
        return f"{program(consumer).name} is not built; tests/interop/run does it, with Go"
    if shutil.which("java") is None or not jar("dynamodb").exists():
        return "DynamoDB Local is not built; tests/interop/run does it, with a JDK and Maven"
    return None
