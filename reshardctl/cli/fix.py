"""`reshardctl fix`: repairs a consumer's positions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import completion
from reshardctl.cli.options import (
    Accept,
    Account,
    Color,
    Config,
    Count,
    Files,
    Forgive,
    Format,
    NotRule,
    Output,
    Policy,
    Probe,
    ProbeBudget,
    Rule,
    Shards,
    Skipped,
    Stream,
    Verbose,
)
from reshardctl.cli.write_options import (
    AssumeStopped,
    Created,
    DryRun,
    Journal,
    Out,
    Plan,
    Positions,
    Recreated,
    Resume,
    Set,
    Shift,
    WatchFirst,
    Yes,
)
from reshardctl.console.destinations import ColorMode


def fix(
    account: Account,
    files: Files,
    consumers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CONSUMER...",
            help="As for inspect; of several, each is asked for. Not with --plan or --resume.",
            show_default=False,
            autocompletion=completion.consumers,
        ),
    ] = None,
    stream: Stream = None,
    config: Config = None,
    dry_run: DryRun = False,
    out: Out = None,
    plan: Plan = None,
    resume: Resume = None,
    policy: Policy = None,
    positions: Positions = None,
    set_to: Set = None,
    shift: Shift = None,
    accept: Accept = None,
    probe: Probe = None,
    count: Count = False,
    probe_budget: ProbeBudget = None,
    shards: Shards = None,
    rule: Rule = None,
    not_rule: NotRule = None,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="The application is new: make its first positions.")
    ] = False,
    recreated: Recreated = None,
    created: Created = None,
    yes: Yes = False,
    assume_stopped: AssumeStopped = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Write while the application runs: only if every write is safe then."
        ),
    ] = False,
    watch: WatchFirst = None,
    journal: Journal = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="DIR",
            help="Copy the checkpoint directory to a new one and repair that (spark:PATH).",
        ),
    ] = None,
    skipped: Skipped = None,
    fail_on: Forgive = None,
    if_reshard: Annotated[list[str] | None, typer.Option("--if-reshard", hidden=True)] = None,
    form: Format = None,
    output: Output = None,
    color: Color = ColorMode.AUTO,
    verbose: Verbose = False,
) -> None:
    """Make it right: plan, prove, show, ask, journal, write, verify.

    Example: reshardctl fix kcl://my-application --stream my-stream --dry-run
    """
    from reshardctl.cli.fix_terminal import FixTerminal
    from reshardctl.codec.argv import words
    from reshardctl.commands.fix import fix as fixed
    from reshardctl.commands.fix import fix_many, plan_many, several_plans
    from reshardctl.commands.fix import plan as planned
    from reshardctl.commands.requests import REACHED
    from reshardctl.commands.survey import not_for_fix
    from reshardctl.commands.write_requests import HOW, FixRequest
    from reshardctl.console.destinations import destinations, forgiving, one_document
    from reshardctl.console.output import Output
    from reshardctl.render.content.documents import FixesDocument
    from reshardctl.render.formats import BY_HAND

    not_for_fix(if_reshard)
    names = consumers or []
    places = destinations(form, output, BY_HAND if dry_run else ())
    request = FixRequest(
        names[0] if len(names) == 1 else None, plan, resume, out, to, count, assume_stopped, live,
        watch, journal, skipped=skipped, positions=positions, set_to=set_to or (), shift=shift,
        stream=stream, policy=policy, accept=accept, probe=probe, bootstrap=bootstrap,
        recreated=recreated, created=created, config=config,
        account=replace(account, budget=probe_budget),
        shards=shards or (), files=files, rules=rule or (), not_rules=not_rule or (),
        yes=yes and not dry_run, by_hand=any(place.format in BY_HAND for place in places),
    )
    again = words(request, (*REACHED, *HOW))
    shown = Output(places, color, verbose, again, forgiving=forgiving(fail_on, dry_run))
    several = len(names) > 1 or (not names and several_plans(request, dry_run=dry_run))
    if several:
        shown.check_formats(FixesDocument, "shows one consumer")
    quiet = one_document(places) and (several or not dry_run)
    with FixTerminal(shown, dry_run=dry_run, quiet=quiet, yes=yes) as terminal:
        if several and dry_run:
            code = terminal.show_all(plan_many(request, names, terminal))
        elif several:
            code = terminal.show_all(fix_many(request, names, terminal.consents, terminal))
        else:
            code = terminal.fix(request, planned, fixed)
    raise typer.Exit(code)
