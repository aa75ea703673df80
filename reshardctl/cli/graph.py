"""`reshardctl graph`: show me the shards."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli.options import (
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
    stream: StreamOption,
    locator: Annotated[
        str | None,
        typer.Argument(
            metavar="CONSUMER",
            help="Draws its line as well, e.g. 'kcl://my-application?initial=TRIM_HORIZON'.",
            show_default=False,
        ),
    ] = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    endpoint_url: EndpointOption = None,
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
    from reshardctl.cli.connect import Account, listed, place_of, ports_of
    from reshardctl.cli.output import check_file, replace_file, show
    from reshardctl.cli.wishes import wishes_of
    from reshardctl.errors import UsageError
    from reshardctl.render.graph import draw
    from reshardctl.repair import survey

    account = Account(region, profile, role_arn, endpoint_url or ())
    if output is not None:
        check_file(Path(output))
    if locator is None:
        if probe:
            raise UsageError("--probe reads what a consumer owes", "name a CONSUMER, or leave it")
        drawn = draw(form, *listed(account, stream))
    else:
        place = place_of(locator)
        report = survey(ports_of(account, place), stream, place, wishes_of("lossless", None), probe)
        drawn = draw(form, report.snapshot.lineage, report.snapshot.now, report)
    if output is None:
        show(drawn.splitlines())
    else:
        replace_file(Path(output), drawn)
