"""Commands whose `--help` shows the most used options, groups of the others, and an example.

The documentation shows each option in the same group.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from typer.core import TyperCommand, TyperGroup

from reshardctl.errors import UsageError, command_line


class Group(StrEnum):
    """Groups of options, in the order in which they are shown."""

    TARGET = "Target"
    ACTION = "Action"
    CONSENT = "Consent"
    SAFETY = "Safety"
    OUTPUT = "Output"
    AWS = "AWS"
    GENERAL = "General"


_NAMES = {
    Group.TARGET: (
        "stream", "consumer", "discover", "config", "shards", "rule", "not-rule", "only-bad",
        "created", "recreated", "from", "form", "column", "account", "summary", "rows", "taken",
    ),
    Group.ACTION: (
        "dry-run", "out", "plan", "resume", "policy", "positions", "set", "shift", "bootstrap",
        "to", "skipped", "probe", "count", "probe-budget", "wait", "until", "since", "if-reshard",
        "every",
        "against-stream", "master", "remote", "list", "show", "prune", "older-than",
        "whole-file", "serve", "env", "online", "check",
        "for",
    ),
    Group.CONSENT: ("accept", "yes"),
    Group.SAFETY: ("assume-stopped", "live", "watch", "journal", "read-only"),
    Group.OUTPUT: (
        "format", "output", "per-shard", "sort", "by", "color", "verbose", "fail-on", "baseline",
        "keys", "page", "redact", "as", "quiet", "debug",
    ),
    Group.AWS: (
        "region", "profile", "role-arn", "table-region", "table-profile", "table-role-arn",
        "endpoint-url",
    ),
    Group.GENERAL: ("help", "version", "install-completion", "show-completion"),
}

GROUP_OF = {f"--{name}": group for group, names in _NAMES.items() for name in names}
"""The group of each option, by its long name."""
_ELSEWHERE = {("audit", "--rows"): Group.OUTPUT}
"""Options that mean another thing in one command."""


def long_name(option: Any) -> str:
    """The name of an option that begins with two dashes."""
    return next(str(name) for name in option.opts if name.startswith("--"))


MOST_USED = {
    "inspect": ("stream", "probe", "wait", "format", "verbose"),
    "status": ("stream", "only-bad", "probe", "sort", "format"),
    "explain": ("stream", "config", "probe", "shards", "format"),
    "fix": ("stream", "dry-run", "out", "plan", "accept"),
    "audit": ("stream", "consumer", "since", "form", "format"),
    "rebuild": ("from", "stream", "dry-run", "out", "plan"),
    "undo": ("list", "show", "dry-run", "yes", "assume-stopped"),
    "snapshot": ("stream", "shards", "summary", "rows", "output"),
    "graph": ("stream", "only-bad", "since", "format", "output"),
    "export": ("stream", "config", "probe", "format", "output"),
}
"""Commands with many options: the five that matter, which stand before the groups."""


def grouped(command: Any, context: Any) -> list[tuple[str, list[Any]]]:
    """The title of each group that is not empty, with its parameters in their order.

    The arguments come first, then the options that are most used.
    """
    known = command.get_params(context)
    groups = [("Arguments", [each for each in known if each.param_type_name == "argument"])]
    options = {long_name(each): each for each in known if each.param_type_name != "argument"}
    most = [f"--{name}" for name in MOST_USED.get(command.name, ())]
    groups.append(("Most used", [options.pop(name) for name in most]))
    groups += [
        (group.value, [
            each for name, each in options.items()
            if _ELSEWHERE.get((command.name, name), GROUP_OF[name]) is group
        ])
        for group in Group
    ]
    return [(title, members) for title, members in groups if members]


LOCATORS = (
    ("kcl://TABLE", "lease table of KCL"),
    ("kinsumer://APP", "tables of kinsumer"),
    ("kinesis-consumer+ddb://TABLE?app=APP", "kinesis-consumer, Telegraf"),
    ("kinesis-consumer+redis://HOST/0", "the same in Redis; or +rediss"),
    ("kinesis-consumer+postgres://HOST/DB", "in PostgreSQL; or +mysql"),
    ("spark:PATH", "checkpoint directory of a query"),
    ("spark+s3://BUCKET/PATH", "the same on S3"),
    ("quickwit+file:///ROOT", "metastore of Quickwit"),
    ("quickwit+s3://BUCKET/PATH", "the same on S3"),
    ("quickwit+postgres://HOST/DB", "in PostgreSQL"),
    ("quickwit+http://NODE:7280", "its REST, read only; or +https"),
)
"""How the positions of each library are named, and what they are."""

EXAMPLE = "Example: "
"""In a command's docstring: what follows is a command line, and the end of the help."""


def help_record(parameter: Any, context: Any) -> tuple[str, str] | None:
    """How a parameter is written, and its help; `None` if it is hidden."""
    record: tuple[str, str] | None = parameter.get_help_record(context)
    if record is None or parameter.param_type_name != "argument":
        return record
    return record[0].partition(" <")[0], record[1]  # without the type that typer appends


def summary(command: Any) -> str:
    """The first paragraph of a command's help."""
    return " ".join((command.help or "").partition("\n\n")[0].split())


class _Grouped:
    """What commands and groups of commands share: the example of their help is kept apart."""

    example: str = ""
    """The command line at the end of the help."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        text, _, example = (settings.get("help") or "").partition(EXAMPLE)
        self.example = " ".join(example.split())
        super().__init__(*args, **{**settings, "help": text.strip()})

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line: `CONSUMER` where typer writes `{CONSUMER}`."""
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [piece.strip("{}") for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes one section for each group of options."""
        for title, parameters in grouped(self, ctx):
            records = [help_record(parameter, ctx) for parameter in parameters]
            if shown := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(shown)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Writes locators and epilog; the example is on a line of its own, never wrapped."""
        parameters = self.get_params(ctx)  # type: ignore[attr-defined]
        if ctx.parent is None or any("CONSUMER" in str(each.metavar) for each in parameters):
            with formatter.section("Locators"):
                formatter.write_dl(LOCATORS, col_max=40)
        super().format_epilog(ctx, formatter)  # type: ignore[misc]
        if self.example:
            formatter.write(f"\nExample:\n  {self.example}\n")


class Command(_Grouped, TyperCommand):
    """A command."""


MEANT = {
    "plan": "fix CONSUMER --dry-run",
    "apply": "fix --plan PLAN   # or fix CONSUMER, which plans, asks and writes",
    "repair": "fix CONSUMER",
    "rollback": "undo JOURNAL",
    "list": "discover STREAM   # tables with its positions; journals: undo --list",
    "help": "COMMAND --help",
    "version": "--version",
}
"""Commands of other tools, and what is typed for them here. Words that follow fill the first word
in capitals, unless options come first."""


def meant(name: str, words: Sequence[str]) -> str:
    """What is typed here for a command of other tools; "" for any other name."""
    if name == "help" and not words:
        return "--help"
    typed, given = MEANT.get(name, ""), command_line(*words)
    if not given or given.startswith("-"):
        return typed
    return re.sub(r"(?<!\S)[A-Z]+(?!\S)", lambda _: given, typed, count=1)


class CommandGroup(_Grouped, TyperGroup):
    """A group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named, or UsageError with the one that was meant."""
        name, *words = args
        if name in self.commands or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if typed := meant(name, words) if ctx.parent is None else "":
            hint = f"{ctx.command_path} {typed}"
        else:
            from reshardctl.model.phrases import did_you_mean

            known = f"there are {', '.join(self.commands)}"
            hint = did_you_mean(name, self.commands, known)
        raise UsageError(f"there is no command {name!r}", hint)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the options, and every command with its whole summary."""
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(each)) for name, each in self.commands.items()])
