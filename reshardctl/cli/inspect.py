"""`reshardctl inspect`: reports what is wrong, once or with `--every` round after round."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    Files,
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
    Skipped,
    Stream,
    Until,
    Verbose,
    Wait,
    Watch,
)
from reshardctl.console.destinations import ColorMode
from reshardctl.errors import ReshardError

if TYPE_CHECKING:
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.inspect import Inspection, InspectRequest
    from reshardctl.commands.inspect_again import Round
    from reshardctl.console.output import Output as Shown


def inspect(
    account: Account,
    files: Files,
    consumers: Consumers = None,
    stream: Stream = None,
    discover: Annotated[
        bool,
        typer.Option(
            "--discover",
            help="In place of a CONSUMER: all whose DynamoDB tables are found, of --stream, or of "
            "every stream of this account and region.",
        ),
    ] = False,
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
    skipped: Skipped = None,
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
    from reshardctl.render.formats import METRICS

    places = destinations(form, output, METRICS)
    out = Output(places, color, verbose, (), per_shard=per_shard)
    terminal = Terminal()
    request = InspectRequest(
        consumers or (), count=count, wait=wait, until=until, if_reshard=if_reshard or (),
        watch=watch, fail_on=threshold(fail_on), baseline=baseline, skipped=skipped,
        stream=stream,
        account=dataclasses.replace(account, budget=probe_budget),
        policy=policy, accept=accept, probe=probe, config=config, metrics=wants_metrics(places),
        shards=shards or (), files=files, rules=rule or (), not_rules=not_rule or (),
        discover=discover,
    )
    if every is not None:
        return _again(request, every, out, terminal)
    result = inspected(request, terminal)
    _show(result, out, terminal)
    raise typer.Exit(result.exit)


def _show(result: Inspection, out: Shown, terminal: Terminal) -> None:
    out = replace(out, suggested_command=result.words)
    out.write(result.report if result.alone else result.roundup, result.exit)
    if result.warning:
        terminal.note(result.warning)


def _again(request: InspectRequest, every: str, out: Shown, terminal: Terminal) -> None:
    """Inspects until Ctrl-C or SIGTERM, which ends it as it ends any command.

    Without a terminal, a format and a file, stdout gets one line a round. The files stay as the
    last round made them.
    """
    from reshardctl.commands.inspect_again import inspect_again
    from reshardctl.console import output
    from reshardctl.console.destinations import Destination
    from reshardctl.console.failures import say
    from reshardctl.errors import UsageError

    logged = out.destinations[0] == Destination(None, None) and not sys.stdout.isatty()
    if logged:
        out = replace(out, destinations=out.destinations[1:])
    rounds = 0
    try:
        for turn in inspect_again(request, every, terminal):
            output.forget_shown()
            if logged:
                output.show([_line(turn)])
            if isinstance(turn.outcome, ReshardError):
                say(turn.outcome)
                output.write_failure(turn.outcome)
            else:
                _show(turn.outcome, out, terminal)
            rounds += 1
    except UsageError:
        output.await_failure(())  # a round that never began replaces no file
        raise
    except KeyboardInterrupt:
        if rounds:
            output.await_failure(())  # the files are those of the last round
        raise


def _line(turn: Round) -> str:
    """When, whom, and how many findings; or that it could not tell."""
    from reshardctl.model.times import instant
    from reshardctl.render.content.roundup import total
    from reshardctl.render.content.verdict import tally

    outcome = turn.outcome
    if isinstance(outcome, ReshardError):
        return f"{instant(turn.at)} could not tell: {outcome.what}"
    entries = outcome.roundup.entries
    if len(entries) != 1 or entries[0].report is None:
        paces = [f"{e.name}: {e.report.pace}" for e in entries if e.report and e.report.pace]
        return "; ".join([f"{instant(turn.at)} {total(outcome.roundup)}", *paces])
    report = entries[0].report
    parts = [f"{instant(turn.at)} {entries[0].name}: {tally(report)}", report.pace]
    return "  ".join(part for part in parts if part)
