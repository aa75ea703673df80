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
for line in sys.stdin:
    run(line.split())
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


OF_AWS = {"boto3", "botocore", "urllib3"}
OTHERS = {"networkx", "pyspark", "psycopg"}


@pytest.mark.parametrize("commands", [
    {"--help": {"reshardctl.model", "reshardctl.commands", "pydantic"} | OF_AWS},
    {
        "inspect --help": {"reshardctl.model", "reshardctl.commands"} | OF_AWS,
        f"inspect snapshot:{SNAPSHOT} --format json": UNUSED | OF_AWS,
        f"inspect snapshot:{SNAPSHOT}": UNUSED - LAID_OUT | OF_AWS,
        f"status snapshot:{SNAPSHOT}": OTHERS | OF_AWS,
        f"fix snapshot:{SNAPSHOT} --dry-run": OTHERS,
    },
], ids=["help", "one after another"])  # fmt: skip
def test_nothing_is_imported_that_is_not_used(commands: dict[str, set[str]]) -> None:
    """What an earlier command imported is there for a later one, which needs all of it."""
    done = subprocess.run(
        [sys.executable, "-c", LISTED], input="\n".join(commands), capture_output=True, text=True,
        check=True,
    )
    found = [line for line in done.stderr.splitlines() if line.startswith("MODULES")]
    for (words, unwanted), modules in zip(commands.items(), found, strict=True):
        assert not set(modules.split()) & unwanted, words


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
