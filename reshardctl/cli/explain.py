"""`reshardctl explain`: shards in detail."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from reshardctl.cli import completion
from reshardctl.cli.options import Account, Config, Consumer, Probe, Stream


class ExplainFormat(StrEnum):
    """Formats of an explanation."""

    TEXT = "text"
    JSON = "json"


def explain(
    account: Account,
    shard: Annotated[
        str,
        typer.Argument(
            metavar="SHARD", help="Its number or its id; several as in 4,5 or 7-9.",
            show_default=False,
            autocompletion=completion.shards,
        ),
    ],
    locator: Consumer,
    stream: Stream = None,
    config: Config = None,
    probe: Probe = None,
    form: Annotated[
        ExplainFormat, typer.Option("--format", help="For people, or for programs.")
    ] = ExplainFormat.TEXT,
) -> None:
    """Why this shard? Its life, position, owner, neighbours, and what the next start does with it.

    Example: reshardctl explain 12,13 kcl://my-application --stream my-stream
    """
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.explain import ExplainRequest
    from reshardctl.commands.explain import explain as explained
    from reshardctl.console.stdout import show, write
    from reshardctl.render.content.explanation import explanation_json, explanations

    request = ExplainRequest(
        shard=shard, consumer=locator, stream=stream, account=account, probe=probe, config=config
    )
    shown = explained(request, Terminal())
    if form is ExplainFormat.JSON:
        write(explanation_json(shown.report, shown.shards, shown.statuses))
    else:
        show(explanations(shown.report, shown.shards, shown.statuses))
