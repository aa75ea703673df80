"""`reshardctl inspect`: is anything wrong?"""

from __future__ import annotations

from typing import Annotated

import typer

from reshardctl.cli.options import (
    AcceptOption,
    ColorMode,
    ColorOption,
    ConfigOption,
    EndpointOption,
    FailOn,
    FormatOption,
    LocatorArgument,
    OutputOption,
    PolicyOption,
    ProbeOption,
    ProfileOption,
    RegionOption,
    RoleOption,
    StreamOption,
    VerboseOption,
)


def inspect(
    locator: LocatorArgument,
    stream: StreamOption = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    endpoint_url: EndpointOption = None,
    config: ConfigOption = None,
    policy: PolicyOption = None,
    accept: AcceptOption = None,
    probe: ProbeOption = False,
    wait: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Wait so long for the reshard to settle first."),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit 1 from this severity on.")
    ] = FailOn.ERROR,
    form: FormatOption = None,
    output: OutputOption = None,
    color: ColorOption = ColorMode.AUTO,
    verbose: VerboseOption = False,
    _read_only: Annotated[
        bool, typer.Option("--read-only", help="Does nothing: inspect never writes.")
    ] = False,
) -> None:
    """Is anything wrong? Says what the consumer will skip, re-read or wait for at its next start.

    Read-only. Example: reshardctl inspect kcl://my-application --stream my-stream
    """
    from reshardctl.cli.connect import Account
    from reshardctl.cli.destinations import destinations
    from reshardctl.cli.output import Output
    from reshardctl.cli.targets import Given, one
    from reshardctl.cli.waiting import wait_until_settled
    from reshardctl.exit import Exit
    from reshardctl.repair import survey
    from reshardctl.rules import Severity
    from reshardctl.times import parse_seconds

    account = Account(region, profile, role_arn, endpoint_url or ())
    target = one(locator, Given(stream, account, policy, accept, probe, config=config))
    patience = None if wait is None else parse_seconds(wait)
    out = Output(destinations(form, output), color, verbose, target.words)
    ports = target.ports()
    if patience is not None:
        wait_until_settled(ports, target.stream, patience)
    report = survey(ports, target.stream, target.place, target.wishes, target.probe)
    bad = fail_on is not FailOn.NEVER and any(
        f.severity >= Severity[fail_on.name] for f in report.findings
    )
    code = Exit.FINDINGS if bad else Exit.OK
    out.inspect(report, code)
    raise typer.Exit(code)
