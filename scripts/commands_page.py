"""Write docs/commands.md from the commands of reshardctl/cli.

    .venv/bin/python scripts/commands_page.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from reshardctl.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
HEAD = """# Commands and options

Written by `scripts/commands_page.py` from `reshardctl/cli`; edit the texts there.
`reshardctl COMMAND --help` prints the same.

`reshardctl --version` prints the version.
[Exit codes](exit-codes.md) are the same for every command.
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
        lines.append(f"| [`{name}`](#{anchor}) | {_sentence(_paragraphs(command)[0])} |")
    for name, command in known:
        lines += ["", *_section(name, command)]
    return "\n".join(lines) + "\n"


def _section(name: str, command: Any) -> Iterator[str]:
    context = command.make_context(f"reshardctl {name}", [], resilient_parsing=True)
    yield f"## {name}"
    for paragraph in _paragraphs(command):
        text, _, example = paragraph.partition("Example: ")
        if text:
            yield f"\n{text.strip()}"
        if example:
            yield f"\n```console\n$ {example.strip()}\n```"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"\n```text\n{usage}\n```"
    yield "\n| argument or option | meaning |\n|---|---|"
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            yield f"| `{_cell(record[0])}` | {_cell(record[1])} |"


def _paragraphs(command: Any) -> list[str]:
    """The paragraphs of a command's help; an example is the last."""
    return [" ".join(text.split()) for text in (command.help or "").split("\n\n")]


def _sentence(text: str) -> str:
    """The first sentences of a help, without its example."""
    return _cell(text.partition("Example: ")[0].strip())


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
