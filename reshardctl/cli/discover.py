"""`reshardctl discover`: finds the tables that hold a stream's positions."""

from __future__ import annotations

from typing import Annotated

import typer

from reshardctl.cli import options
from reshardctl.cli.options import Account, Color, Config, Output
from reshardctl.console.destinations import ColorMode
from reshardctl.render.formats import Format


def discover(
    account: Account,
    stream: Annotated[
        str,
        typer.Argument(
            metavar="STREAM", help="Name, ARN, or a name in reshardctl.toml.", show_default=False
        ),
    ],
    config: Config = None,
    form: Annotated[
        Format, options.one_format("For people, or for programs.", "screen", "data")
    ] = Format.TEXT,
    output: Output = None,
    color: Color = ColorMode.AUTO,
) -> None:
    """Which DynamoDB tables of this account and region hold a stream's positions?

    Read-only: keys of all tables, and a sample of at most 50 rows of those that may be it; and it
    asks Kinesis about at most five numbers of a table. Example: reshardctl discover my-stream
    """
    from reshardctl.cli.terminal import Terminal
    from reshardctl.codec.argv import words
    from reshardctl.commands.discover import DiscoverRequest
    from reshardctl.commands.discover import discover as discovered
    from reshardctl.console.destinations import destinations
    from reshardctl.console.output import Output
    from reshardctl.exit import Exit

    again = ("--stream", stream, *words(account))
    out = Output(destinations([form], output), color, verbose=False, suggested_command=again)
    tables = discovered(DiscoverRequest(stream, account, config), Terminal())
    absent = Exit.UNKNOWN if tables.unread else Exit.NOTHING_FOUND
    code = Exit.OK if tables.matching() else absent
    out.write(tables, code)
    raise typer.Exit(code)
