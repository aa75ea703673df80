"""`reshardctl inspect`: reports what is wrong."""

from __future__ import annotations

from dataclasses import replace
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
    EveryOption,
    FailOnOption,
    IfReshardOption,
    MetricsFormatOption,
    NotRuleOption,
    OutputOption,
    PerShardOption,
    PolicyOption,
    ProbeOption,
    ProfileOption,
    RegionOption,
    RoleOption,
    RuleOption,
    ShardsOption,
    StreamOption,
    UntilOption,
    VerboseOption,
    WaitOption,
    WatchOption,
)
from reshardctl.console.choices import ColorMode


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
    probe: ProbeOption = None,
    count: CountOption = False,
    probe_budget: BudgetOption = None,
    shards: ShardsOption = None,
    rule: RuleOption = None,
    not_rule: NotRuleOption = None,
    wait: WaitOption = None,
    until: UntilOption = None,
    if_reshard: IfReshardOption = None,
    watch: WatchOption = None,
    every: EveryOption = None,
    fail_on: FailOnOption = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE",
            help="Count only what this JSON report lacks; it, or a snapshot, is evidence, too.",
        ),
    ] = None,
    form: MetricsFormatOption = None,
    output: OutputOption = None,
    per_shard: PerShardOption = False,
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
    from reshardctl.cli.terminal import Terminal, threshold
    from reshardctl.commands.account import Account
    from reshardctl.commands.inspect import InspectRequest
    from reshardctl.commands.inspect import inspect as inspected
    from reshardctl.console.destinations import destinations, wants_metrics
    from reshardctl.console.output import Output

    places = destinations(form, output, metrics=True)
    out = Output(places, color, verbose, (), per_shard=per_shard)
    terminal = Terminal()
    request = InspectRequest(
        consumers or (), count=count, wait=wait, until=until, if_reshard=if_reshard or (),
        watch=watch, fail_on=threshold(fail_on), baseline=baseline, stream=stream,
        account=Account(region, profile, role_arn, endpoint_url or (), probe_budget),
        policy=policy, accept=accept, probe=probe, config=config, metrics=wants_metrics(places),
        shards=shards or (), rules=rule or (), not_rules=not_rule or (),
    )
    if every is not None:
        from reshardctl.cli.inspect_again import look_again

        return look_again(request, every, out, terminal)
    result = inspected(request, terminal)
    out = replace(out, suggested_command=result.words)
    out.write(result.report if result.alone else result.roundup, result.exit)
    if result.warning:
        terminal.note(result.warning)
    raise typer.Exit(result.exit)
