"""Write docs/commands.md from the commands of reshardctl/cli.

    .venv/bin/python -m scripts.pages commands
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from reshardctl.cli.app import application
from reshardctl.cli.help import GROUP_OF, Group, grouped, help_record, long_name, summary

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD = """# Commands and options

`reshardctl COMMAND --help` prints the same for one command, `reshardctl --version` the version.
`--quiet` and `--debug FILE` work with every command:
[progress and logs](status.md#what-a-command-shows-while-it-runs).
[Exit codes and errors](exit-codes.md) are the same for every command.
"""
CONSUMER = """
A CONSUMER is a name in `reshardctl.toml`, or a locator: see
[Supported systems](index.md#supported-systems) and the page of each.

A DURATION is `90s`, `15m`, `1h30m`, `2d` or `1.5h`; a number without a unit is refused.

More: [policies, `--set`, scopes](policies.md) ·
[what `--yes` accepts](exit-codes.md#what---yes-accepts) ·
[is it stopped?](runbook.md#3-stop-the-application) · [`--live`](live.md) ·
[journals and their place](undo.md#which-journals-are-there) · [permissions](iam.md)

| environment variable | |
|---|---|
| `AWS_…` | as for every AWS client; options win |
| `RESHARDCTL_STATE_DIR`, `XDG_STATE_HOME` | where journals lie |
| `PGPASSWORD`, `MYSQL_PWD`, `REDISCLI_AUTH` | passwords |
| `NO_COLOR`, `FORCE_COLOR` | colours |
| `RESHARDCTL_TRACEBACK=1` | shows a defect in full |"""
SHARED = """
## Options of several commands

The section of a command says which of them it takes.
"""
NOTE = """\
<!-- Written by python -m scripts.pages commands from reshardctl/cli; edit the texts there. -->
"""
SEVERAL = 2
"""So many commands have an option with the same text: it is listed once."""
FEW = 3
"""So many options of a group are named, even where a command takes all of them."""

Record = tuple[str, str]
"""How a parameter is written, and its help."""


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with the words that name it, those of a group one by one."""
    known: dict[str, Any] = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
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
    lines.append(CONSUMER)
    groups = _shared(known)
    lines.append(SHARED)
    for group, members in groups.items():
        lines += [f"### {group} options\n", *_table("option", members.values()), ""]
    for name, command in known:
        lines += [*_section(name, command, groups), ""]
    return "\n".join([*lines, NOTE])


def _parameters(name: str, command: Any) -> Iterator[tuple[str, Record]]:
    """The long name ("" for an argument) and the record of all that a command shows."""
    context = command.make_context(f"reshardctl {name}", [], resilient_parsing=True)
    for _, parameters in grouped(command, context):
        for parameter in parameters:
            argument = parameter.param_type_name == "argument"
            option = "" if argument else long_name(parameter)
            record = help_record(parameter, context)
            if record is not None and option != "--help":
                yield option, record


def _shared(known: list[tuple[str, Any]]) -> dict[Group, dict[str, Record]]:
    """The options of several commands, by group; an option has one text there."""
    count = Counter(
        (option, record) for name, command in known
        for option, record in _parameters(name, command) if option
    )
    several: dict[str, Record] = {}
    for (option, record), number in count.most_common():
        if number >= SEVERAL:
            several.setdefault(option, record)
    found = {
        group: {name: several[name] for name, of in GROUP_OF.items()
                if of is group and name in several}
        for group in Group
    }
    return {group: members for group, members in found.items() if members}


def _section(name: str, command: Any, groups: dict[Group, dict[str, Record]]) -> Iterator[str]:
    """What a command does, an example, its own parameters, and the names of shared options."""
    yield f"## {name}"
    for paragraph in command.help.split("\n\n"):
        yield f"\n{' '.join(paragraph.split())}"
    yield f"\n```console\n$ {command.example}\n```\n"
    takes = list(_parameters(name, command))
    shared = {
        group: [option for option, record in takes if members.get(option) == record]
        for group, members in groups.items()
    }
    elsewhere = {option for options in shared.values() for option in options}
    own = [record for option, record in takes if option not in elsewhere]
    yield from _table("argument or option", own)
    for group, options in shared.items():
        if options:
            whole = len(options) == len(groups[group]) > FEW
            names = "all" if whole else ", ".join(f"`{option}`" for option in options)
            yield f"| {names} | [{group} options](#{group.lower()}-options) |"


def _table(title: str, records: Any) -> Iterator[str]:
    yield f"| {title} | |\n|---|---|"
    for written, meaning in records:
        yield f"| `{_cell(written)}` | {_cell(meaning)} |"


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
