"""`reshardctl explain`: shards in detail."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from reshardctl.cli import completion, options
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


def explain(
    account: Account,
    files: Files,
    locator: Consumer,
    shard: Annotated[
        str,
        typer.Argument(
            metavar="SHARD", help="Its number or its id; several as in 4,5 or 7-9.",
            show_default=False,
            autocompletion=completion.shards,
        ),
    ],
    stream: Stream = None,
    shards: ListedShards = None,
    config: Config = None,
    probe: Probe = None,
    probe_budget: ProbeBudget = None,
    form: Annotated[
        Format, options.one_format("For people, or for programs.", "screen", "data")
    ] = Format.TEXT,
) -> None:
    """Why this shard? Its life, position, owner, neighbours, and what the next start does with it.

    Example: reshardctl explain kcl://my-application 12,13 --stream my-stream
    """
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.explain import ExplainRequest
    from reshardctl.commands.explain import explain as explained
    from reshardctl.console.destinations import ColorMode, Destination
    from reshardctl.console.output import Output
    from reshardctl.exit import Exit

    request = ExplainRequest(
        shard=shard, consumer=locator, stream=stream, probe=probe, config=config,
        account=replace(account, budget=probe_budget), shards=shards or (), files=files,
    )
    shown = explained(request, Terminal())
    out = Output(
        (Destination(form, None),), ColorMode.NEVER, verbose=False, suggested_command=shown.words
    )
    out.write(shown, Exit.OK)
