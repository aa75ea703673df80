"""Write docs/commands.md from the commands of reshardctl/cli.

    .venv/bin/python -m scripts.pages commands
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from reshardctl.cli.app import app
from reshardctl.cli.help import LOCATORS, grouped, help_record, summary

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD = """# Commands and options

`reshardctl COMMAND --help` prints the same.

`reshardctl --version` prints the version.
[Exit codes](exit-codes.md) are the same for every command.
"""
NOTE = """\
<!-- Written by python -m scripts.pages commands from reshardctl/cli; edit the texts there. -->
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with the words that name it, those of a group one by one."""
    known: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for name, command in known.items():
        for inner, nested in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), nested


def page() -> str:
    """The whole page."""
    known = list(commands())
    lines = [HEAD, "| command | what it does |", "|---|---|"]
    for name, command in known:
        anchor = name.replace(" ", "-")
        lines.append(f"| [`{name}`](#{anchor}) | {_cell(summary(command))} |")
    lines.append("\nA CONSUMER is a name in `reshardctl.toml`, or a locator:\n")
    lines += ["| locator | |", "|---|---|"]
    lines += [f"| `{locator}` | {meaning} |" for locator, meaning in LOCATORS]
    for name, command in known:
        lines += ["", *_section(name, command)]
    return "\n".join([*lines, "", NOTE])


def _section(name: str, command: Any) -> Iterator[str]:
    context = command.make_context(f"reshardctl {name}", [], resilient_parsing=True)
    yield f"## {name}"
    for paragraph in command.help.split("\n\n"):
        yield f"\n{' '.join(paragraph.split())}"
    yield f"\n```console\n$ {command.example}\n```"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"\n```text\n{usage}\n```"
    for title, parameters in grouped(command, context):
        records = [help_record(parameter, context) for parameter in parameters]
        if shown := [record for record in records if record is not None]:
            yield f"\n| {title} | |\n|---|---|"
            for written, meaning in shown:
                yield f"| `{_cell(written)}` | {_cell(meaning)} |"


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
