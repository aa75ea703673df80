"""`reshardctl audit`: compares a sink with its stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import completion
from reshardctl.cli.options import (
    Account,
    Color,
    Column,
    Config,
    Form,
    Format,
    Master,
    Output,
    Remote,
    Stream,
    Verbose,
)
from reshardctl.console.destinations import ColorMode, FailOn


def audit(
    account: Account,
    sink: Annotated[
        str,
        typer.Argument(
            metavar="SINK", help="What a consumer wrote: a path, or a table's name.",
            show_default=False,
        ),
    ],
    stream: Stream = None,
    consumer: Annotated[
        str | None,
        typer.Option(
            "--consumer", metavar="CONSUMER", autocompletion=completion.consumers,
            help="Compare with its stored positions: a locator, or a name in reshardctl.toml.",
            show_default=False,
        ),
    ] = None,
    kind: Form = None,
    column: Column = None,
    against: Annotated[
        bool,
        typer.Option(
            "--against-stream/--alone",
            help="Read the stream as well: which records are missing. Costs a GetRecords for "
            "every 10 MB of the window, shared with the consumers. --alone judges the sink by "
            "itself.",
        ),
    ] = True,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME",
            help="Of the stream only what arrived from then on: a time, -90m or @reshard.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="TIME", help="Of the stream only what arrived before: "
            "--until=-10m leaves out what may be on its way.", show_default=False,
        ),
    ] = None,
    keys: Annotated[
        bool, typer.Option("--keys", help="Show the partition keys that lack most records.")
    ] = False,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows", metavar="DIR",
            help="Write the missing and other offending rows there, as Parquet. A new directory.",
            show_default=False,
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", metavar="FILE",
            help="Write an HTML page: map of the shards, what was read, lost and doubled when.",
            show_default=False,
        ),
    ] = None,
    master: Master = None,
    remote: Remote = None,
    config: Config = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit 1 from this severity on.")
    ] = FailOn.ERROR,
    form: Format = None,
    output: Output = None,
    color: Color = ColorMode.AUTO,
    verbose: Verbose = False,
) -> None:
    """Does the sink have what the stream had? Missing, doubled and disordered records, by shard.

    Read-only. Needs PySpark and Java: pip install '.[spark]' in a checkout.
    Example: reshardctl audit s3a://my-lake/orders --stream my-stream
    """
    from reshardctl.cli.terminal import Terminal, severity
    from reshardctl.commands.audit import AuditRequest, arguments, exit_of
    from reshardctl.commands.audit import audit as audited
    from reshardctl.commands.requests import Sink
    from reshardctl.console.destinations import destinations
    from reshardctl.console.output import Output
    from reshardctl.stores.named_file import check_file, replace_file

    request = AuditRequest(
        Sink(sink, kind, tuple(column or ()), master, remote, against), consumer, since, until,
        keys, rows, stream=stream, config=config,
        account=account,
    )
    out = Output(destinations(form, output), color, verbose, arguments(request))
    if page is not None:
        check_file(page)
    with Terminal() as terminal:
        report = audited(request, terminal)
    code = exit_of(report, severity(fail_on))
    try:
        if page is not None:
            from reshardctl.render.html import audit_page as html

            replace_file(page, html(report))
    finally:
        out.write(report, code)  # what took long is shown, whatever becomes of its page
    raise typer.Exit(code)
