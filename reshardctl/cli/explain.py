"""`reshardctl explain`: why this shard?"""

from __future__ import annotations

from typing import Annotated

import typer

from reshardctl.cli.options import (
    ConfigOption,
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
    stream: StreamOption = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    endpoint_url: EndpointOption = None,
    config: ConfigOption = None,
    probe: ProbeOption = False,
) -> None:
    """Why this shard? Its life, its place in the store, and what the next start does with it.

    Example: reshardctl explain 12 kcl://my-application --stream my-stream
    """
    from reshardctl.commands.account import Account
    from reshardctl.commands.target import Given
    from reshardctl.commands.targets.named import one
    from reshardctl.console.stdout import show
    from reshardctl.execution.repair import survey
    from reshardctl.render.explanation import explain as explained

    account = Account(region, profile, role_arn, endpoint_url or ())
    target = one(locator, Given(stream, account, probe=probe, config=config))
    report = survey(target.ports(), target.stream, target.place, target.wishes, target.probe)
    show(explained(report, shard))
