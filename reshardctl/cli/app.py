"""Puts the commands together. Nothing heavy is imported before a command runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from reshardctl import __version__
from reshardctl.cli import global_options
from reshardctl.cli.audit import audit
from reshardctl.cli.config import config
from reshardctl.cli.demo import demo
from reshardctl.cli.discover import discover
from reshardctl.cli.explain import explain
from reshardctl.cli.export import export
from reshardctl.cli.fix import fix
from reshardctl.cli.graph import graph
from reshardctl.cli.grouped_help import Command, CommandGroup
from reshardctl.cli.inspect import inspect
from reshardctl.cli.rebuild import rebuild
from reshardctl.cli.rule import rule
from reshardctl.cli.snapshot import snapshot
from reshardctl.cli.status import status
from reshardctl.cli.undo import undo
from reshardctl.console import error_documents as lastword
from reshardctl.console.failures import guarded

EPILOG = (
    "Exit codes: 0 clean, applied and verified, or nothing to do; 1 findings, or something to do; "
    "2 usage, no such table, or the table of another stream; 3 could not tell; "
    "4 refused, nothing written; 5 half done, journal named; "
    "130 cancelled before the first write. "
    "--quiet and --debug may stand after the command, too."
)

app = typer.Typer(
    name="reshardctl",
    cls=CommandGroup,
    help=(
        "Repair a consumer's stored positions after its Kinesis stream was resharded. "
        "Example: reshardctl inspect kcl://my-application --stream my-stream"
    ),
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

for verb in (
    inspect, status, fix, audit, rebuild, undo, graph, explain, export, discover, snapshot, rule,
    demo,
):
    app.command(cls=Command)(verb)
app.add_typer(config)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No progress and no notes on stderr; errors remain.")
    ] = False,
    debug: Annotated[
        Path | None,
        typer.Option(
            "--debug", metavar="FILE",
            help="Log each call to AWS: time, request id, attempt; no secrets, no rows.",
        ),
    ] = None,
) -> None:
    if version:
        typer.echo(f"reshardctl {__version__}")
        raise typer.Exit
    global_options.apply(quiet, debug)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns the exit code."""
    ahead, rest = global_options.split(arguments)
    lastword.begin(rest)
    return guarded(
        lambda: app([*ahead, *rest], prog_name="reshardctl", standalone_mode=False),
        lastword.speak,
    )
