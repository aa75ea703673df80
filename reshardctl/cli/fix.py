"""`reshardctl fix`: repairs a consumer's positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import completion, fix_options, options
from reshardctl.console.choices import ColorMode


def fix(
    consumers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CONSUMER...",
            help="As for inspect; of several, each is asked for. Not with --plan or --resume.",
            show_default=False,
            autocompletion=completion.consumers,
        ),
    ] = None,
    stream: options.Stream = None,
    region: options.Region = None,
    profile: options.Profile = None,
    role_arn: options.RoleArn = None,
    endpoint_url: options.EndpointUrl = None,
    config: options.Config = None,
    dry_run: fix_options.DryRun = False,
    out: fix_options.Out = None,
    plan: fix_options.Plan = None,
    resume: fix_options.Resume = None,
    policy: options.Policy = None,
    positions: fix_options.Positions = None,
    set_to: fix_options.Set = None,
    shift: fix_options.Shift = None,
    accept: options.Accept = None,
    probe: options.Probe = None,
    count: options.Count = False,
    probe_budget: options.ProbeBudget = None,
    shards: options.Shards = None,
    rule: options.Rule = None,
    not_rule: options.NotRule = None,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="The application is new: make its first positions.")
    ] = False,
    recreated: fix_options.Recreated = None,
    created: fix_options.Created = None,
    yes: fix_options.Yes = False,
    assume_stopped: fix_options.AssumeStopped = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Write while the application runs: only if every write is safe then."
        ),
    ] = False,
    watch: fix_options.Watch = None,
    journal: fix_options.Journal = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="DIR",
            help="Copy the checkpoint directory to a new one and repair that (spark:PATH).",
        ),
    ] = None,
    if_reshard: Annotated[list[str] | None, typer.Option("--if-reshard", hidden=True)] = None,
    form: options.Format = None,
    output: options.Output = None,
    color: options.Color = ColorMode.AUTO,
    verbose: options.Verbose = False,
) -> None:
    """Make it right: plan, prove, show, ask, journal, write, verify.

    Example: reshardctl fix kcl://my-application --stream my-stream --dry-run
    """
    from reshardctl.cli.run_fix import run_fix, show_plan
    from reshardctl.cli.run_fix_many import run_fix_many
    from reshardctl.commands.account import Account
    from reshardctl.commands.fix import fix as fixed
    from reshardctl.commands.fix import plan as planned
    from reshardctl.commands.fix_many import several_plans
    from reshardctl.commands.fix_request import FixRequest
    from reshardctl.commands.inspect_modes import not_for_fix
    from reshardctl.console.destinations import destinations, one_document
    from reshardctl.console.output import Output

    not_for_fix(if_reshard)
    names = consumers or []
    request = FixRequest(
        names[0] if len(names) == 1 else None, plan, resume, out, to, count, assume_stopped, live,
        watch, journal, positions, set_to or (), shift,
        stream=stream, policy=policy, accept=accept, probe=probe, bootstrap=bootstrap,
        recreated=recreated, created=created, config=config,
        account=Account(region, profile, role_arn, endpoint_url or (), probe_budget),
        shards=shards or (), rules=rule or (), not_rules=not_rule or (),
        yes=yes and not dry_run,
    )
    places = destinations(form, output)
    shown = Output(places, color, verbose, ())
    if len(names) > 1 or (not names and several_plans(request, dry_run=dry_run)):
        quiet = one_document(places)
        raise typer.Exit(
            run_fix_many(request, names, shown, dry_run=dry_run, quiet=quiet, yes=yes)
        )
    if dry_run:
        raise typer.Exit(show_plan(planned, request, shown))
    raise typer.Exit(run_fix(fixed, request, shown, quiet=one_document(places), yes=yes))
