"""`reshardctl inspect`: reports what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli.options import (
    Accept,
    Account,
    Color,
    Config,
    Consumers,
    Count,
    Every,
    FailOn,
    IfReshard,
    MetricsFormat,
    NotRule,
    Output,
    PerShard,
    Policy,
    Probe,
    ProbeBudget,
    Rule,
    Shards,
    Stream,
    Until,
    Verbose,
    Wait,
    Watch,
)
from reshardctl.console.destinations import ColorMode


def inspect(
    account: Account,
    consumers: Consumers = None,
    stream: Stream = None,
    config: Config = None,
    policy: Policy = None,
    accept: Accept = None,
    probe: Probe = None,
    count: Count = False,
    probe_budget: ProbeBudget = None,
    shards: Shards = None,
    rule: Rule = None,
    not_rule: NotRule = None,
    wait: Wait = None,
    until: Until = None,
    if_reshard: IfReshard = None,
    watch: Watch = None,
    every: Every = None,
    fail_on: FailOn = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE",
            help="Count only what this JSON report lacks; it, or a snapshot, is evidence, too.",
        ),
    ] = None,
    form: MetricsFormat = None,
    output: Output = None,
    per_shard: PerShard = False,
    color: Color = ColorMode.AUTO,
    verbose: Verbose = False,
    _read_only: Annotated[
        bool, typer.Option("--read-only", help="Does nothing: inspect never writes.")
    ] = False,
) -> None:
    """Is anything wrong? Says what the consumer will skip, re-read or wait for at its next start.

    Read-only. Without a CONSUMER: all that reshardctl.toml names, side by side.
    Example: reshardctl inspect kcl://my-application --stream my-stream
    """
    from reshardctl.cli.terminal import Terminal, threshold
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
        account=replace(account, budget=probe_budget),
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
