"""Where tests/proof/libraries/run leaves what it builds with Go, and whether it is there."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.proof.libraries.kcl.built import jar

HERE = Path(__file__).parent
TARGET = HERE / "target"
PROGRAMS = {
    "kinsumer": "kinsumer",
    "kinesis-consumer": "kinesis_consumer",
    "telegraf-1.34": "telegraf-1.34",
    "telegraf-1.39": "telegraf-1.39",
}
"""The program of a library, as `build` names it."""


def program(library: str) -> Path:
    """What runs one library, many applications at a time."""
    return TARGET / PROGRAMS[library]


def missing(library: str) -> str | None:
    """What keeps the real library from running here; None when nothing does."""
    if not program(library).exists():
        return f"{program(library).name} is not built; tests/proof/libraries/run does it, with Go"
    if shutil.which("java") is None or not jar("dynamodb").exists():
        return "DynamoDB Local is not built; tests/proof/libraries/run does it, by JDK and Maven"
    return None
