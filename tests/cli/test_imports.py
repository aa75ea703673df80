"""What a command imports before it has anything to do: the start of every call pays for it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from reshardctl.cli.help import summary

SNAPSHOT = Path("tests/golden/files-0.2/kcl/stream.snapshot").absolute()
UNUSED = {
    "networkx", "pyspark", "psycopg", "rich", "random", "tempfile", "tomllib", "xml.etree",
    "reshardctl.journal", "reshardctl.render.formats.github", "reshardctl.render.formats.junit",
    "reshardctl.render.formats.openmetrics", "reshardctl.render.formats.sarif",
    "reshardctl.render.charts", "reshardctl.render.html", "reshardctl.render.graph.html",
    "reshardctl.render.graph.svg",
}  # fmt: skip
"""What an `inspect` of a snapshot needs nothing of."""
LAID_OUT = {"rich", "random"}
"""What lays text out in columns."""
LISTED = """
import sys
from reshardctl.cli.app import run
code = run(sys.argv[1:])
print("MODULES", *sorted(sys.modules), file=sys.stderr)
"""


GARBAGE = """
import gc, sys
from reshardctl.cli import NEW_OBJECTS, main
sys.argv = ["reshardctl", "--version"]
try:
    main()
finally:
    sys.exit(gc.get_threshold()[0] != NEW_OBJECTS)
"""


def test_a_command_looks_for_garbage_seldom():
    assert subprocess.run([sys.executable, "-c", GARBAGE], check=False).returncode == 0


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
        (("inspect", f"snapshot:{SNAPSHOT}"), UNUSED - LAID_OUT),
        (("inspect", f"snapshot:{SNAPSHOT}", "--format", "json"), UNUSED),
        (("status", f"snapshot:{SNAPSHOT}"), {"networkx", "pyspark", "psycopg"}),
    ],
    ids=["help", "help of a command", "inspect", "inspect for programs", "status"],
)
def test_nothing_is_imported_that_is_not_used(words: tuple[str, ...], unwanted: set[str]) -> None:
    found = imported(*words)
    assert not found & (unwanted | {"boto3", "botocore", "urllib3"})


def test_a_fix_does_without_networkx() -> None:
    found = imported("fix", f"snapshot:{SNAPSHOT}", "--dry-run")
    assert not found & {"networkx", "pyspark", "psycopg"}


def test_only_the_command_that_is_run_has_its_parameters_read():
    """typer takes some milliseconds for the parameters of each."""
    app = importlib.import_module("reshardctl.cli.app")
    groups: list[Any] = [
        typer.main.get_command(app.application(only)) for only in (None, "status")
    ]
    whole, one = (group.commands for group in groups)
    assert list(whole) == list(one)
    sizes = {name: len(command.params) for name, command in one.items()}
    assert sizes.pop("status") == len(whole["status"].params) > 10
    assert set(sizes.values()) == {0}
    assert [*map(summary, whole.values())] == [*map(summary, one.values())]


@pytest.mark.parametrize(("words", "completed", "name"), [
    (["inspect", "kcl://a"], "", "inspect"), (["config", "check"], "", "config"),
    (["explain", "status"], "", "explain"), (["--help"], "", ""), (["nonsense"], "", ""),
    ([], "reshardctl fix --pol", "fix"),
])  # fmt: skip
def test_the_command_is_found_before_it_is_parsed(monkeypatch, words, completed, name):
    app = importlib.import_module("reshardctl.cli.app")
    monkeypatch.setenv("COMP_WORDS", completed)
    assert app.chosen(words) == name
