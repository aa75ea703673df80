"""The agent changes two constants of each release and not one other instruction."""

from __future__ import annotations

import re
import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.interop.kcl.built import RELEASES, jar, library_jar
from tests.interop.kcl.library import WAITS

pytestmark = pytest.mark.interop

PACKAGE = "software.amazon.kinesis.coordinator"

# (class, constant as released, which of the agent's waits replaces it). Constants as in the sources
# of 2.7.2 and 3.5.1: PeriodicShardSyncManager.INITIAL_DELAY and
# Scheduler.MAX_WAIT_TIME_FOR_LEASE_TABLE_CHECK_MILLIS, inlined by the compiler where they are used.
CHANGES = [
    ("PeriodicShardSyncManager", 60_000, "firstAudit"),
    ("Scheduler", 30_000, "emptyTable"),
]


@pytest.mark.usefixtures("java")
@pytest.mark.parametrize("release", RELEASES)
def test_agent_changes_two_constants_and_nothing_else(release: str, tmp_path: Path) -> None:
    """Compares the disassembly of both classes; what the agent says is printed for the log."""
    properties = [f"-Dreshardctl.{name}={value}" for name, value in WAITS.items()]
    show = ["-jar", str(jar("agent")), str(library_jar(release)), str(tmp_path)]
    print(_output(["java", *properties, *show]))
    for name, stock, wait in CHANGES:
        before, after = (_instructions(tmp_path / state, name) for state in ("stock", "shortened"))
        changed = [
            line for line in unified_diff(before, after, n=0, lineterm="") if line[0] in "+-"
        ][2:]
        assert changed == [f"-ldc2_w // long {stock}l", f"+ldc2_w // long {WAITS[wait]}l"]


def _instructions(folder: Path, name: str) -> list[str]:
    """The disassembly without what numbers the constant pool, which the agent appends to."""
    text = _output(["javap", "-p", "-c", "-cp", str(folder), f"{PACKAGE}.{name}"])
    own = f"{PACKAGE}.{name}".replace(".", "/") + "."
    lines = (re.sub(r"^\s*\d+:|#\d+", "", line).replace(own, "") for line in text.splitlines())
    return [" ".join(line.split()) for line in lines]


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
