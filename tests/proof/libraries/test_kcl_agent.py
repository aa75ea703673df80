"""The agent changes one or two constants of a release and not one other instruction."""

from __future__ import annotations

import re
import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.proof.libraries.kcl.built import RELEASES, jar, library_jar
from tests.proof.libraries.kcl.pace import PACES

pytestmark = pytest.mark.interop

COORDINATOR = "software.amazon.kinesis.coordinator"
WORKER = "com.amazonaws.services.kinesis.clientlibrary.lib.worker"

# (class, constant as released, which of the agent's waits replaces it). Constants as in the sources
# of 2.7.2, 3.1.3 and 3.5.1: PeriodicShardSyncManager.INITIAL_DELAY and
# Scheduler.MAX_WAIT_TIME_FOR_LEASE_TABLE_CHECK_MILLIS, inlined by the compiler where they are used;
# of 1.15.3: Worker.MAX_WAIT_TIME_FOR_LEASE_TABLE_CHECK_MILLIS, which is not final. 1.13.3
# and 2.2.11 have none.
TWO = [
    (f"{COORDINATOR}.PeriodicShardSyncManager", 60_000, "firstAudit"),
    (f"{COORDINATOR}.Scheduler", 30_000, "emptyTable"),
]
CHANGES = {
    "1.13.3": [],
    "1.15.3": [(f"{WORKER}.Worker", 30_000, "emptyTable")],
    "2.2.11": [],
    "2.7.2": TWO,
    "3.1.3": TWO,
    "3.5.1": TWO,
}


@pytest.mark.needs("real-kcl")
@pytest.mark.parametrize("release", RELEASES)
def test_agent_changes_these_constants_and_nothing_else(release: str, tmp_path: Path) -> None:
    """Compares the disassembly of each class; what the agent says is printed for the log."""
    waits = PACES[release].waits
    properties = [f"-Dreshardctl.{name}={value}" for name, value in waits.items()]
    show = ["-jar", str(jar("agent")), str(library_jar(release)), str(tmp_path)]
    print(_output(["java", *properties, *show]))
    touched = {
        path.relative_to(tmp_path / "shortened") for path in tmp_path.rglob("shortened/**/*.class")
    }
    assert touched == {
        Path(*name.split(".")).with_suffix(".class") for name, _, _ in CHANGES[release]
    }
    for name, stock, wait in CHANGES[release]:
        before, after = (_instructions(tmp_path / state, name) for state in ("stock", "shortened"))
        changed = [
            line for line in unified_diff(before, after, n=0, lineterm="") if line[0] in "+-"
        ][2:]
        assert changed == [f"-ldc2_w // long {stock}l", f"+ldc2_w // long {waits[wait]}l"]


def _instructions(folder: Path, name: str) -> list[str]:
    """The disassembly without what numbers the constant pool, which the agent appends to."""
    text = _output(["javap", "-p", "-c", "-cp", str(folder), name])
    own = name.replace(".", "/") + "."
    lines = (re.sub(r"^\s*\d+:|#\d+", "", line).replace(own, "") for line in text.splitlines())
    return [" ".join(line.split()) for line in lines]


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
