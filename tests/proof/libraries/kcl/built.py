"""Where Maven leaves what it builds here, and whether it is there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE / "target"
RELEASES = ("1.13.3", "1.15.3", "2.2.11", "2.7.2", "3.1.3", "3.5.1")

# One process holds several applications; quick to start matters more than quick code. Thousands of
# starts fill the usual 48 MB of compiled code, and the VM says so on standard output, amid events.
JAVA = [
    "java", "-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m", "-XX:+DisplayVMOutputToStderr",
]  # fmt: skip


def missing() -> str | None:
    """What keeps the real library from running here; None when nothing does."""
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if absent := [module for module in modules() if not jar(module).exists()]:
        return f"not built: {absent}; tests/proof/libraries/run builds them"
    return None


def modules() -> list[str]:
    return ["agent", "dynamodb", *(f"kcl-{release}" for release in RELEASES)]


def jar(module: str) -> Path:
    return HERE / module / "target" / f"{module}.jar"


def class_path(module: str) -> str:
    """The module's jar and the pinned jars that Maven copied beside it."""
    return os.pathsep.join([str(jar(module)), *sorted(map(str, _library(module).glob("*.jar")))])


def library_jar(release: str) -> Path:
    """The Kinesis Client Library itself, as published."""
    return _library(f"kcl-{release}") / f"amazon-kinesis-client-{release}.jar"


def dynamodb_command() -> list[str]:
    """DynamoDB Local; its native SQLite lies among its jars."""
    native = f"-Dsqlite4java.library.path={_library('dynamodb')}"
    return [*JAVA, native, "-cp", class_path("dynamodb"), "reshardctl.interop.dynamodb.Loopback"]


def runner_command(release: str, waits: Mapping[str, int]) -> list[str]:
    """The runner of one release; ``waits`` are the agent's, in milliseconds."""
    properties = [f"-Dreshardctl.{name}={value}" for name, value in waits.items()]
    return [
        *JAVA,
        f"-javaagent:{jar('agent')}",
        *properties,
        # Kinesis speaks CBOR to these SDKs (2 and 1) unless told not to.
        "-Daws.cborEnabled=false",
        "-Dcom.amazonaws.sdk.disableCbor=true",
        "-cp",
        class_path(f"kcl-{release}"),
        "reshardctl.interop.Runner",
    ]


def _library(module: str) -> Path:
    return HERE / module / "target" / "lib"
