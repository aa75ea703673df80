"""`reshardctl inspect`: is anything wrong?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli.options import (
    AcceptOption,
    BudgetOption,
    ColorOption,
    ConfigOption,
    ConsumersArgument,
    CountOption,
    EndpointOption,
    FormatOption,
    IfReshardOption,
    OutputOption,
    PolicyOption,
    ProbeOption,
    ProfileOption,
    RegionOption,
    RoleOption,
    StreamOption,
    UntilOption,
    VerboseOption,
    WaitOption,
    WatchOption,
)
from reshardctl.console.choices import ColorMode, FailOn


def inspect(
    consumers: ConsumersArgument = None,
    stream: StreamOption = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    endpoint_url: EndpointOption = None,
    config: ConfigOption = None,
    policy: PolicyOption = None,
    accept: AcceptOption = None,
    probe: ProbeOption = False,
    count: CountOption = False,
    probe_budget: BudgetOption = None,
    wait: WaitOption = None,
    until: UntilOption = None,
    if_reshard: IfReshardOption = None,
    watch: WatchOption = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit 1 from this severity on.")
    ] = FailOn.ERROR,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE",
            help="Count only what this JSON report lacks; it, or a snapshot, is evidence, too.",
        ),
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    color: ColorOption = ColorMode.AUTO,
    verbose: VerboseOption = False,
    _read_only: Annotated[
        bool, typer.Option("--read-only", help="Does nothing: inspect never writes.")
    ] = False,
) -> None:
    """Is anything wrong? Says what the consumer will skip, re-read or wait for at its next start.

    Read-only. Without a CONSUMER: all that reshardctl.toml names, side by side.
    Example: reshardctl inspect kcl://my-application --stream my-stream
    """
    from reshardctl.commands.account import Account
    from reshardctl.commands.baseline import baseline_of, known_before, warn_of_another
    from reshardctl.commands.inspect_many import failing, roundup
    from reshardctl.commands.inspect_modes import looking_of
    from reshardctl.commands.request import counting
    from reshardctl.commands.target import Given
    from reshardctl.commands.targets.named import several
    from reshardctl.console.destinations import destinations
    from reshardctl.console.output import Output
    from reshardctl.exit import Exit

    account = Account(region, profile, role_arn, endpoint_url or (), probe_budget)
    given = Given(stream, account, policy, accept, probe, config=config)
    known = None if baseline is None else baseline_of(baseline)
    targets = [
        known_before(counting(one, count), known) for one in several(consumers or (), given)
    ]
    looking = looking_of(wait, until, if_reshard, watch)
    target = targets[0]
    out = Output(destinations(form, output), color, verbose, target.words)
    if len(targets) > 1 or target.entry is not None or known is not None:
        shown = roundup(targets, given, looking, fail_on, consumers or (), known)
        out.roundup(shown, shown.exit)
        if baseline is not None and known is not None:
            reports = [entry.report for entry in shown.entries if entry.report is not None]
            warn_of_another(known, baseline, reports)
        raise typer.Exit(shown.exit)
    report = looking.report(target)
    code = Exit.FINDINGS if failing(report.findings, fail_on) else Exit.OK
    out.inspect(report, code)
    raise typer.Exit(code)
