"""What a command imports before it has anything to do: the start of every call pays for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SNAPSHOT = Path("tests/golden/files-0.1/kcl/stream.snapshot").absolute()
LISTED = """
import sys
from reshardctl.cli.app import run
code = run(sys.argv[1:])
print("MODULES", *sorted(sys.modules), file=sys.stderr)
"""


def imported(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LISTED, *words], capture_output=True, text=True, check=True
    )
    line = next(line for line in done.stderr.splitlines() if line.startswith("MODULES"))
    return set(line.split()[1:])


@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        (("--help",), {"reshardctl.model", "reshardctl.commands", "pydantic"}),
        (("inspect", "--help"), {"reshardctl.model", "reshardctl.commands"}),
        (("inspect", f"snapshot:{SNAPSHOT}"), {"networkx", "pyspark", "psycopg", "rich"}),
        (("status", f"snapshot:{SNAPSHOT}"), {"networkx", "pyspark", "psycopg"}),
    ],
    ids=["help", "help of a command", "inspect", "status"],
)
def test_nothing_is_imported_that_is_not_used(words: tuple[str, ...], unwanted: set[str]) -> None:
    found = imported(*words)
    assert not found & (unwanted | {"boto3", "botocore", "urllib3"})
