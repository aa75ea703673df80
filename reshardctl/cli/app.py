"""Puts the commands together, with the options that each takes before or after its name.

Nothing heavy is imported before a command runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from reshardctl import __version__, given_secrets
from reshardctl.cli.audit import audit
from reshardctl.cli.config import config
from reshardctl.cli.demo import demo
from reshardctl.cli.discover import discover
from reshardctl.cli.explain import explain
from reshardctl.cli.export import export
from reshardctl.cli.fix import fix
from reshardctl.cli.graph import graph
from reshardctl.cli.help import Command, CommandGroup
from reshardctl.cli.inspect import inspect
from reshardctl.cli.options import takes
from reshardctl.cli.rebuild import rebuild
from reshardctl.cli.rule import rule
from reshardctl.cli.snapshot import snapshot
from reshardctl.cli.status import status
from reshardctl.cli.undo import undo
from reshardctl.console import output
from reshardctl.console.failures import guarded

VALUED, FLAGS = "--debug", ("--quiet",)


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The global options of a command line, and the rest of it, each in its order.

    What stands after `--` is never an option.
    """
    ahead: list[str] = []
    rest: list[str] = []
    remaining = iter(arguments)
    for word in remaining:
        if word == "--":
            return ahead, [*rest, word, *remaining]
        if word in FLAGS or word.startswith(f"{VALUED}="):
            ahead.append(word)
        elif word == VALUED:
            ahead += [word, *([value] if (value := next(remaining, None)) is not None else [])]
        else:
            rest.append(word)
    return ahead, rest


def apply(quiet: bool, debug: Path | None) -> None:
    """Keep notes and progress off stderr, and log the calls to AWS.

    Raises:
        UsageError: The file of `--debug` cannot be written.
    """
    from reshardctl.aws import call_log
    from reshardctl.console import progress

    progress.silence(quiet)
    call_log.begin(debug)


EPILOG = (
    "Exit codes: 0 clean, applied and verified, or nothing to do; 1 findings, or something to do; "
    "2 usage, no such table, or the table of another stream; 3 could not tell; "
    "4 refused, nothing written; 5 half done, journal named; 6 nothing stored, or no table found; "
    "130 cancelled before the first write. "
    "--quiet and --debug may stand after the command, too."
)

VERBS: tuple[Callable[..., None], ...] = (
    inspect, status, fix, audit, rebuild, undo, graph, explain, export, discover, snapshot, rule,
    demo,
)
"""The commands, in the order in which `--help` lists them; `config` is a group after them."""
NAMES = frozenset({*(verb.__name__ for verb in VERBS), "config"})
COMPLETED = ("_TYPER_COMPLETE_ARGS", "COMP_WORDS")
"""Variables in which a shell that completes hands over what was typed."""


def application(only: str | None = None) -> typer.Typer:
    """The command line.

    only: the command that is to be run; the others then have a name and a summary, but no
    parameters, which typer takes milliseconds to read. `None` for all of them.
    """
    whole = typer.Typer(
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
    for verb in VERBS:
        chosen = only in (None, verb.__name__)
        whole.command(cls=Command)(takes(verb) if chosen else _named(verb.__name__, verb.__doc__))
    if only in (None, "config"):
        whole.add_typer(config)
    else:
        whole.command(cls=Command)(_named("config", str(config.info.help)))
    whole.callback(invoke_without_command=True)(_root)
    return whole


def _named(name: str, summary: str | None) -> Callable[[], None]:
    """A command of this name that does nothing."""

    def nothing() -> None: ...

    nothing.__name__, nothing.__doc__ = name, summary
    return nothing


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
    apply(quiet, debug)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns the exit code."""
    ahead, rest = split(arguments)
    output.await_failure(rest)
    given_secrets.begin([*arguments, *_given_urls()])
    command = application(chosen(rest))
    return guarded(
        lambda: command([*ahead, *rest], prog_name="reshardctl", standalone_mode=False),
        output.write_failure,
    )


def _given_urls() -> list[str]:
    """The URLs of endpoints and proxies in the environment, in which tokens and passwords stand."""
    return [
        value for name, value in os.environ.items()
        if name.startswith("AWS_ENDPOINT_URL") or name.lower().endswith("_proxy")
    ]


def chosen(words: Sequence[str]) -> str:
    """The command that a command line names, or the one that a shell completes; "" for none."""
    completed = " ".join(os.environ.get(name, "") for name in COMPLETED).split()
    return next((word for word in (*words, *completed) if word in NAMES), "")
