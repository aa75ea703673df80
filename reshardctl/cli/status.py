"""`reshardctl status`: each shard with its position, lag, owner, next start and finding."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from reshardctl.cli import options
from reshardctl.cli.options import (
    Account,
    Color,
    Config,
    Consumer,
    FailOn,
    Files,
    Output,
    PerShard,
    Probe,
    ProbeBudget,
    Shards,
    Stream,
)
from reshardctl.console.destinations import ColorMode
from reshardctl.render.formats import Format

AS_WIDE_AS_NEEDED = 1 << 20
"""Columns of a pipe or a file: one line for each shard."""


class StatusColumn(StrEnum):
    """Columns to sort by."""

    VERDICT = "verdict"
    SHARD = "shard"
    STATE = "state"
    POSITION = "position"
    LAG = "lag"
    RECORDS = "records"
    BYTES = "bytes"
    OWNER = "owner"
    PROGRESS = "progress"
    RULE = "rule"


class By(StrEnum):
    """What a row is."""

    SHARD = "shard"
    WORKER = "worker"


def status(
    account: Account,
    files: Files,
    locator: Consumer,
    stream: Stream = None,
    config: Config = None,
    shards: Shards = None,
    only_bad: Annotated[
        bool, typer.Option("--only-bad", help="Only shards that an error or a warning names.")
    ] = False,
    sort: Annotated[
        StatusColumn,
        typer.Option("--sort", help="Sort by this column, the worst, largest or oldest first."),
    ] = StatusColumn.VERDICT,
    by: Annotated[
        By, typer.Option("--by", help="A row for each shard, or for each worker with its shards.")
    ] = By.SHARD,
    probe: Probe = None,
    count: Annotated[
        bool,
        typer.Option("--count", help="Read and count all unread records: lag in records and bytes.")
    ] = False,
    probe_budget: ProbeBudget = None,
    fail_on: FailOn = None,
    form: Annotated[
        Format,
        options.one_format(
            "For people, or for programs.", "screen", "data", "records", "table", "metrics"
        ),
    ] = Format.TEXT,
    per_shard: PerShard = False,
    output: Output = None,
    color: Color = ColorMode.AUTO,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Whole owners, numbers and times.")
    ] = False,
) -> None:
    """How far is each shard? Its position, lag, owner, next start and finding, worst first.

    Read-only. Example: reshardctl status kcl://my-application --stream my-stream --only-bad
    """
    from reshardctl.cli.terminal import Terminal, threshold
    from reshardctl.commands.status import StatusRequest
    from reshardctl.commands.status import status as looked_up
    from reshardctl.console.destinations import Destination, file_of
    from reshardctl.console.output import Output

    out = Output(
        (Destination(form, file_of(output)),), color, verbose=verbose, suggested_command=(),
        per_shard=per_shard, piped_width=AS_WIDE_AS_NEEDED,
    )
    request = StatusRequest(
        locator, shards=shards or (), files=files, only_bad=only_bad, sort=sort,
        by_worker=by is By.WORKER, count=count, fail_on=threshold(fail_on), stream=stream,
        probe=probe, config=config, account=dataclasses.replace(account, budget=probe_budget),
    )
    result = looked_up(request, Terminal())

    replace(out, suggested_command=result.words).write(result.status, result.exit)
    raise typer.Exit(result.exit)
