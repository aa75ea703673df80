"""Write docs/reshardctl.1, the man page, from the commands of reshardctl/cli.

    .venv/bin/python -m scripts.pages man
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reshardctl import __version__
from reshardctl.cli.app import EPILOG, application
from reshardctl.cli.help import LOCATORS, grouped, help_record
from scripts.pages.commands import commands

PAGE = Path(__file__).parents[2] / "docs" / "reshardctl.1"
HEAD = '.\\" Written by scripts/pages/man.py from reshardctl/cli; edit the texts there.'
NAME = "repair stored positions of consumers after a Kinesis stream was resharded"


def page() -> str:
    """The whole page, in the man macros of roff."""
    lines = [
        HEAD,
        f'.TH RESHARDCTL 1 "" "reshardctl {__version__}" "User commands"',
        ".ad l",
        ".SH NAME", f"reshardctl {_text('-')} {NAME}",
        ".SH SYNOPSIS", ".B reshardctl", ".I COMMAND", "[options] [arguments]",
        ".SH DESCRIPTION", _text(str(application().info.help).partition("Example: ")[0]),
        ".SH COMMANDS",
    ]
    for name, command in commands():
        lines += _command(name, command)
    lines.append(".SH LOCATORS")
    for locator, meaning in LOCATORS:
        lines += [".TP", f".B {_text(locator)}", _text(meaning)]
    exits, _, rest = EPILOG.partition(": ")[2].partition(". ")
    lines += [".SH EXIT STATUS"]
    for part in exits.split("; "):
        code, _, meaning = part.partition(" ")
        lines += [".TP", f".B {code}", _text(meaning)]
    return "\n".join([*lines, ".SH NOTES", _text(rest)]) + "\n"


def _command(name: str, command: Any) -> Iterator[str]:
    context = command.make_context(f"reshardctl {name}", [], resilient_parsing=True)
    yield f".SS {_text(' '.join([context.command_path, *command.collect_usage_pieces(context)]))}"
    for number, paragraph in enumerate(command.help.split("\n\n")):
        yield from [".PP"] * bool(number)
        yield _text(paragraph)
    for title, parameters in grouped(command, context):
        records = [help_record(parameter, context) for parameter in parameters]
        if shown := [record for record in records if record is not None]:
            yield from (".PP", f".I {title}")
            for written, meaning in shown:
                yield from (".TP", f".B {_text(written)}", _text(meaning))
    yield from (".PP", "Example:", ".RS", f".nf\n{_text(command.example)}\n.fi", ".RE")


def _text(text: str) -> str:
    """Text as roff reads it: on one line, without a meaning for its marks."""
    marked = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in marked)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
