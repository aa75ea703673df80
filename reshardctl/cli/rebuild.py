"""`reshardctl rebuild`: the line from what the sink holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
        str | None, typer.Option("--stream", help="Name or ARN of the stream.")
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
            "--resume", metavar="JOURNAL",
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
    watch: Annotated[
        str, typer.Option(metavar="DURATION", help="How long to look for signs of life.")
    ] = "30s",
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
    from reshardctl.cli.optimized import refuse_optimized
    from reshardctl.commands import fix as fixing
    from reshardctl.commands import rebuild as rebuilding
    from reshardctl.commands.account import Account
    from reshardctl.commands.fix_request import Asked, how
    from reshardctl.commands.journals import Journals
    from reshardctl.commands.request import accept_of
    from reshardctl.commands.sinks import Sink
    from reshardctl.commands.target import Given
    from reshardctl.model.times import instant, parse_instant

    refuse_optimized(dry_run)
    account = Account(region, profile, role_arn, endpoint_url or (), probe_budget)
    named = (("a consumer", locator), ("--plan", plan), ("--resume", resume))
    rebuilding.one_source([name for name, value in named if value is not None], stream, sink)
    Journals(account).check(journal)
    asked = Asked(
        account, dry_run, out, yes, assume_stopped, fixing.patience(watch, dry_run), journal,
        form, output, color, verbose,
        None if created is None else parse_instant(created), config=config,
        accept=accept_of(accept), how=how(assume_stopped, False, watch, journal),
    )
    own = {
        "--dry-run": dry_run, "--out": out is not None,
        "--count": count, "--recreated": recreated is not None, "--from": sink is not None,
        "--column": bool(column), "--form": kind is not None,
    }
    if plan is not None:
        fixing.nothing_else("--plan", own)
        raise typer.Exit(fixing.from_file(asked, plan))
    if resume is not None:
        own |= {
            "--journal": journal is not None, "--created": created is not None,
            "--accept": accept is not None,
        }
        fixing.nothing_else("--resume", own)
        raise typer.Exit(fixing.go_on(asked, resume))
    stamp = None if asked.created is None else instant(asked.created)
    given = Given(
        stream, account, accept=accept, recreated=recreated, created=stamp, config=config
    )
    seen = Sink(sink or "", kind, tuple(column or ()), against, master, remote)
    raise typer.Exit(rebuilding.from_sink(asked, locator or "", given, seen, count))
