"""`reshardctl graph`: draws the shards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import completion, options
from reshardctl.cli.options import (
    Account,
    Config,
    Files,
    Output,
    Probe,
    ProbeBudget,
    Shards,
    Stream,
)
from reshardctl.render.formats import Format


def graph(
    account: Account,
    files: Files,
    consumers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CONSUMER...",
            help="Draws their lines as well: 'kcl://my-application?initial=TRIM_HORIZON', or names "
            "of consumers or of a stream in reshardctl.toml.",
            show_default=False,
            autocompletion=completion.consumers,
        ),
    ] = None,
    stream: Stream = None,
    config: Config = None,
    shards: Shards = None,
    only_bad: Annotated[
        bool,
        typer.Option(
            "--only-bad",
            help="Only shards with a loss, or that an error or a warning names.",
        ),
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME|-90m|@reshard",
            help="Begin at this time, without the shards that had closed before.",
            show_default=False,
        ),
    ] = None,
    probe: Probe = None,
    probe_budget: ProbeBudget = None,
    form: Annotated[
        Format,
        options.one_format(
            "svg and html are pictures: time by hash keys.",
            "screen", "chart", "data", "picture", "page",
        ),
    ] = Format.TEXT,
    output: Output = None,
) -> None:
    """Show me the shards: who descends from whom, and what a consumer has processed of them.

    Read-only. Example: reshardctl graph kcl://my-application --stream my-stream --format html
    -o orders.html
    """
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.graph import GraphRequest
    from reshardctl.commands.graph import graph as drawn
    from reshardctl.console.destinations import file_of
    from reshardctl.console.output import columns, show
    from reshardctl.stores.named_file import check_file, is_regular, replace_file

    file = file_of(output)
    if file is not None:
        check_file(Path(file))
    request = GraphRequest(
        consumers=consumers or (), format=form, stream=stream, probe=probe, config=config,
        account=replace(account, budget=probe_budget), shards=shards or (), files=files,
        only_bad=only_bad, since=since,
        width=columns() if file is None else None,
    )
    picture = drawn(request, Terminal())
    if file is None:
        show(picture.text.splitlines())
    else:
        replace_file(Path(file), picture.text)
        if is_regular(Path(file)):
            show([f"Saved {file}."])
    raise typer.Exit(picture.exit)
