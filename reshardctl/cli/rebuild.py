"""`reshardctl rebuild`: the line from what the sink holds."""

from __future__ import annotations

from typing import Annotated

import typer

from reshardctl.cli import completion, fix_options, options, sink_options
from reshardctl.console.choices import ColorMode


def rebuild(
    locator: Annotated[
        str | None,
        typer.Argument(
            metavar="CONSUMER", help="As for inspect; its store may be empty.", show_default=False,
            autocompletion=completion.consumers,
        ),
    ] = None,
    sink: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="SINK", help="What the consumer wrote: a path, or a table's name.",
            show_default=False,
        ),
    ] = None,
    stream: options.Stream = None,
    kind: sink_options.Form = None,
    column: sink_options.Column = None,
    against: Annotated[
        bool,
        typer.Option(
            "--against-stream/--alone",
            help="Read the stream as well, which shows the first missing record; or believe the "
            "sink's own commits.",
        ),
    ] = True,
    master: sink_options.Master = None,
    remote: sink_options.Remote = None,
    region: options.Region = None,
    profile: options.Profile = None,
    role_arn: options.RoleArn = None,
    endpoint_url: options.EndpointUrl = None,
    config: options.Config = None,
    dry_run: fix_options.DryRun = False,
    out: fix_options.Out = None,
    plan: fix_options.Plan = None,
    resume: fix_options.Resume = None,
    accept: options.Accept = None,
    count: options.Count = False,
    probe_budget: options.ProbeBudget = None,
    recreated: fix_options.Recreated = None,
    created: fix_options.Created = None,
    yes: fix_options.Yes = False,
    assume_stopped: fix_options.AssumeStopped = False,
    watch: fix_options.Watch = None,
    journal: fix_options.Journal = None,
    form: options.Format = None,
    output: options.Output = None,
    color: options.Color = ColorMode.AUTO,
    verbose: options.Verbose = False,
) -> None:
    """Positions from the sink: where a store was lost, or is not to be believed.

    Example: reshardctl rebuild kcl://my-application --from s3a://my-lake/orders --stream my-stream
    """
    from reshardctl.cli.run_fix import run_fix, show_plan
    from reshardctl.commands.account import Account
    from reshardctl.commands.rebuild import RebuildRequest, plan_rebuild
    from reshardctl.commands.rebuild import rebuild as rebuilt
    from reshardctl.commands.sinks import Sink
    from reshardctl.console.destinations import destinations, one_document
    from reshardctl.console.output import Output

    request = RebuildRequest(
        locator, plan, resume, out, count=count, assume_stopped=assume_stopped, watch=watch,
        journal=journal, stream=stream, accept=accept, recreated=recreated, created=created,
        config=config,
        sink=Sink(sink or "", kind, tuple(column or ()), against, master, remote),
        account=Account(region, profile, role_arn, endpoint_url or (), probe_budget),
    )
    places = destinations(form, output)
    shown = Output(places, color, verbose, ())
    if dry_run:
        raise typer.Exit(show_plan(plan_rebuild, request, shown))
    raise typer.Exit(run_fix(rebuilt, request, shown, quiet=one_document(places), yes=yes))
