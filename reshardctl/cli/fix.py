"""`reshardctl fix`: make it right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli.options import (
    AcceptOption,
    BudgetOption,
    ColorOption,
    ConfigOption,
    CountOption,
    EndpointOption,
    FormatOption,
    OutputOption,
    PolicyOption,
    ProbeOption,
    ProfileOption,
    RecreatedOption,
    RegionOption,
    RoleOption,
    VerboseOption,
)
from reshardctl.console.choices import ColorMode


def fix(
    locator: Annotated[
        str | None,
        typer.Argument(
            metavar="CONSUMER", help="As for inspect; not with --plan or --resume.",
            show_default=False,
        ),
    ] = None,
    stream: Annotated[
        str | None, typer.Option("--stream", help="Name or ARN of the stream.")
    ] = None,
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
    policy: PolicyOption = None,
    accept: AcceptOption = None,
    probe: ProbeOption = False,
    count: CountOption = False,
    probe_budget: BudgetOption = None,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="The application is new: make its first positions.")
    ] = False,
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
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Write while the application runs: only if every write is safe then."
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
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="DIR",
            help="Copy the checkpoint directory to a new one and repair that (spark:PATH).",
        ),
    ] = None,
    if_reshard: Annotated[list[str] | None, typer.Option("--if-reshard", hidden=True)] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    color: ColorOption = ColorMode.AUTO,
    verbose: VerboseOption = False,
) -> None:
    """Make it right: plan, prove, show, ask, journal, write, verify.

    Example: reshardctl fix kcl://my-application --stream my-stream --dry-run
    """
    from reshardctl.cli.optimized import refuse_optimized
    from reshardctl.commands import fix as fixing
    from reshardctl.commands import live as running
    from reshardctl.commands.account import Account
    from reshardctl.commands.fix_request import Asked, how
    from reshardctl.commands.inspect_modes import not_for_fix
    from reshardctl.commands.journals import Journals
    from reshardctl.commands.request import accept_of, counting
    from reshardctl.commands.target import Given
    from reshardctl.commands.targets import configured
    from reshardctl.commands.targets.named import one
    from reshardctl.model.times import instant, parse_instant

    not_for_fix(if_reshard)
    refuse_optimized(dry_run)
    account = Account(region, profile, role_arn, endpoint_url or (), probe_budget)
    given = [name for name, value in (
        ("a consumer", locator), ("--plan", plan), ("--resume", resume)
    ) if value is not None]
    fixing.one_source(given, stream)
    Journals(account).check(journal)
    asked = Asked(
        account, dry_run, out, yes, assume_stopped, fixing.patience(watch, dry_run), journal,
        form, output, color, verbose,
        None if created is None else parse_instant(created), live, config,
        accept=accept_of(accept), how=how(assume_stopped, live, watch, journal),
    )
    running.consistent({
        "--assume-stopped": assume_stopped, "--bootstrap": bootstrap,
        "--recreated": recreated is not None,
    } if live else {})
    own = {
        "--dry-run": dry_run, "--out": out is not None,
        "--policy": policy is not None, "--probe": probe, "--count": count,
        "--bootstrap": bootstrap, "--recreated": recreated is not None, "--to": to is not None,
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
    words = Given(stream, account, policy, accept, probe, bootstrap, recreated, stamp, config)
    target = counting(one(locator or "", words), count)
    if target.entry is not None:
        asked = configured.asked(asked, target.entry)
    if to is not None:
        from reshardctl.commands.fix_copy import into_copy

        raise typer.Exit(into_copy(asked, target, to))
    raise typer.Exit(fixing.from_store(asked, target))
