"""`reshardctl explain`: one shard in detail."""

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
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.account import Account
    from reshardctl.commands.explain import ExplainRequest
    from reshardctl.commands.explain import explain as explained
    from reshardctl.console.stdout import show
    from reshardctl.render.explanation import explanation

    account = Account(region, profile, role_arn, endpoint_url or ())
    request = ExplainRequest(
        shard=shard, consumer=locator, stream=stream, account=account, probe=probe, config=config
    )
    shown = explained(request, Terminal())
    show(explanation(shown.report, shown.shard))
