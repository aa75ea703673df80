"""`reshardctl rebuild`: the line from what the sink holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import completion
from reshardctl.cli.options import (
    AcceptOption,
    BudgetOption,
    ColorOption,
    ColumnOption,
    ConfigOption,
    CountOption,
    EndpointOption,
    FormatOption,
    FormOption,
    MasterOption,
    OutputOption,
    PatienceOption,
    ProfileOption,
    RecreatedOption,
    RegionOption,
    RemoteOption,
    RoleOption,
    VerboseOption,
)
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
    stream: Annotated[
        str | None,
        typer.Option(
            "--stream", help="Name or ARN of the stream.", autocompletion=completion.streams
        ),
    ] = None,
    kind: FormOption = None,
    column: ColumnOption = None,
    against: Annotated[
        bool,
        typer.Option(
            "--against-stream/--alone",
            help="Read the stream as well, which shows the first missing record; or believe the "
            "sink's own commits.",
        ),
    ] = True,
    master: MasterOption = None,
    remote: RemoteOption = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    endpoint_url: EndpointOption = None,
    config: ConfigOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Show the proven plan; write nothing.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="PLAN", help="Save the plan to a new file.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="PLAN", help="Apply exactly that plan.")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume", metavar="JOURNAL", autocompletion=completion.journals,
            help="Finish what was interrupted; a journal's name, path or s3://BUCKET/KEY.",
        ),
    ] = None,
    accept: AcceptOption = None,
    count: CountOption = False,
    probe_budget: BudgetOption = None,
    recreated: RecreatedOption = None,
    created: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The positions belong to the stream created at TIME; for a store without numbers.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Apply without asking.")] = False,
    assume_stopped: Annotated[
        bool,
        typer.Option(
            "--assume-stopped", help="You know that every worker is stopped; it is journaled."
        ),
    ] = False,
    watch: PatienceOption = None,
    journal: Annotated[
        str | None,
        typer.Option(
            "--journal", metavar="PLACE",
            help="Where to keep the journal: a file, a directory, or s3://BUCKET/PREFIX.",
        ),
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    color: ColorOption = ColorMode.AUTO,
    verbose: VerboseOption = False,
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
