"""`reshardctl graph`: show me the shards."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli.options import (
    ConfigOption,
    EndpointOption,
    OutputOption,
    ProbeOption,
    ProfileOption,
    RegionOption,
    RoleOption,
    StreamOption,
)


class GraphFormat(StrEnum):
    """Formats of a picture."""

    TEXT = "text"
    DOT = "dot"
    MERMAID = "mermaid"
    GRAPHML = "graphml"
    JSON = "json"
    SVG = "svg"
    HTML = "html"


def graph(
    locator: Annotated[
        str | None,
        typer.Argument(
            metavar="CONSUMER",
            help="Draws its line as well, e.g. 'kcl://my-application?initial=TRIM_HORIZON'.",
            show_default=False,
        ),
    ] = None,
    stream: StreamOption = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    endpoint_url: EndpointOption = None,
    config: ConfigOption = None,
    probe: ProbeOption = False,
    form: Annotated[
        GraphFormat, typer.Option("--format", help="svg and html are pictures: time by hash keys.")
    ] = GraphFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Show me the shards: who descends from whom, and what a consumer has settled of them.

    Read-only. Example: reshardctl graph kcl://my-application --stream my-stream --format html
    -o orders.html
    """
    from reshardctl.cli import offline
    from reshardctl.cli.connect import Account, listed
    from reshardctl.cli.output import check_file, replace_file, show
    from reshardctl.cli.targets import Given, one
    from reshardctl.errors import UsageError
    from reshardctl.render.graph import draw
    from reshardctl.repair import survey

    account = Account(region, profile, role_arn, endpoint_url or ())
    if output is not None:
        check_file(Path(output))
    if locator is None:
        if probe:
            raise UsageError("--probe reads what a consumer owes", "name a CONSUMER, or leave it")
        if stream is None:
            raise UsageError("--stream is missing", "add --stream NAME or --stream ARN")
        drawn = draw(form, *listed(account, stream))
    elif alone := offline.stream_alone(locator, Given(stream, account)):
        drawn = draw(form, *alone)
    else:
        target = one(locator, Given(stream, account, probe=probe, config=config))
        report = survey(target.ports(), target.stream, target.place, target.wishes, target.probe)
        drawn = draw(form, report.snapshot.lineage, report.snapshot.now, report)
    if output is None:
        show(drawn.splitlines())
    else:
        replace_file(Path(output), drawn)
