"""`reshardctl export`: a consumer's positions as data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import options
from reshardctl.cli.options import (
    Account,
    Config,
    Consumer,
    Files,
    ListedShards,
    Probe,
    ProbeBudget,
    Stream,
)
from reshardctl.render.formats import Format


def export(
    account: Account,
    files: Files,
    locator: Consumer,
    stream: Stream = None,
    shards: ListedShards = None,
    config: Config = None,
    probe: Probe = None,
    probe_budget: ProbeBudget = None,
    form: Annotated[
        Format, options.one_format("For programs, or for a spreadsheet.", "data", "table")
    ] = Format.JSON,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Save to a new file, not to stdout.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a consumer's position in every shard as JSON or CSV, for fix --positions.

    Read-only.
    Example: reshardctl export kcl://my-application --stream my-stream -o orders.positions
    """
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.export import ExportRequest
    from reshardctl.commands.export import export as exported
    from reshardctl.console.destinations import file_of
    from reshardctl.console.output import show, write
    from reshardctl.snapshot.positions import csv_text, json_text, save
    from reshardctl.stores.named_file import check_new_file, is_regular

    file = file_of(output)
    saved = None if file is None else Path(file)
    if saved is not None:
        check_new_file(saved)
    request = ExportRequest(
        consumer=locator, stream=stream, probe=probe, config=config,
        account=replace(account, budget=probe_budget), shards=shards or (), files=files,
    )
    positions = exported(request, Terminal())
    text = json_text(positions) if form is Format.JSON else csv_text(positions)
    if saved is None:
        write(text)
        return
    told = is_regular(saved)
    save(text, saved)
    if told:
        show([f"Saved {output} ({len(positions.positions)} positions, readable by you alone)."])
