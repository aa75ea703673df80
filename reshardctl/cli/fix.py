"""`reshardctl fix`: repairs a consumer's positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import completion
from reshardctl.cli.options import (
    AcceptOption,
    BudgetOption,
    ColorOption,
    ConfigOption,
    CountOption,
    EndpointOption,
    FormatOption,
    NotRuleOption,
    OutputOption,
    PatienceOption,
    PolicyOption,
    PositionsOption,
    ProbeOption,
    ProfileOption,
    RecreatedOption,
    RegionOption,
    RoleOption,
    RuleOption,
    SetOption,
    ShardsOption,
    ShiftOption,
    VerboseOption,
)
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
    stream: Annotated[
        str | None,
        typer.Option(
            "--stream", help="Name or ARN of the stream.", autocompletion=completion.streams
        ),
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
            "--resume", metavar="JOURNAL", autocompletion=completion.journals,
            help="Finish what was interrupted; a journal's name, path or s3://BUCKET/KEY.",
        ),
    ] = None,
    policy: PolicyOption = None,
    positions: PositionsOption = None,
    set_to: SetOption = None,
    shift: ShiftOption = None,
    accept: AcceptOption = None,
    probe: ProbeOption = None,
    count: CountOption = False,
    probe_budget: BudgetOption = None,
    shards: ShardsOption = None,
    rule: RuleOption = None,
    not_rule: NotRuleOption = None,
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
    watch: PatienceOption = None,
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
