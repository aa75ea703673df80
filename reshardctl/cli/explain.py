"""`reshardctl explain`: why this shard?"""

from __future__ import annotations

from typing import Annotated

import typer

from reshardctl.cli.options import (
    EndpointOption,
    LocatorArgument,
    ProbeOption,
    ProfileOption,
    RegionOption,
    RoleOption,
    StreamOption,
)


def explain(
    shard: Annotated[
        str, typer.Argument(metavar="SHARD", help="Its number or its id.", show_default=False)
    ],
    locator: LocatorArgument,
    stream: StreamOption,
    region: RegionOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    endpoint_url: EndpointOption = None,
    probe: ProbeOption = False,
) -> None:
    """Why this shard? Its life, its place in the store, and what the next start does with it.

    Example: reshardctl explain 12 kcl://my-application --stream my-stream
    """
    from reshardctl.cli.connect import Account, place_of, ports_of
    from reshardctl.cli.output import show
    from reshardctl.cli.wishes import wishes_of
    from reshardctl.explanation import explain as explained
    from reshardctl.repair import survey

    place = place_of(locator)
    account = Account(region, profile, role_arn, endpoint_url or ())
    report = survey(ports_of(account, place), stream, place, wishes_of("lossless", None), probe)
    show(explained(report, shard))
