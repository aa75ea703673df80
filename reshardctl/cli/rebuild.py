"""`reshardctl rebuild`: the line from what the sink holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from reshardctl.cli import completion
from reshardctl.cli.options import (
    Accept,
    Account,
    Color,
    Column,
    Config,
    Count,
    Forgive,
    Form,
    Format,
    Master,
    Output,
    ProbeBudget,
    Remote,
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
    Recreated,
    Resume,
    WatchFirst,
    Yes,
)
from reshardctl.console.destinations import ColorMode


def rebuild(
    account: Account,
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
    stream: Stream = None,
    kind: Form = None,
    column: Column = None,
    against: Annotated[
        bool,
        typer.Option(
            "--against-stream/--alone",
            help="Read the stream as well, which shows the first missing record; or believe the "
            "sink's own commits.",
        ),
    ] = True,
    master: Master = None,
    remote: Remote = None,
    config: Config = None,
    dry_run: DryRun = False,
    out: Out = None,
    plan: Plan = None,
    resume: Resume = None,
    accept: Accept = None,
    count: Count = False,
    probe_budget: ProbeBudget = None,
    recreated: Recreated = None,
    created: Created = None,
    yes: Yes = False,
    assume_stopped: AssumeStopped = False,
    watch: WatchFirst = None,
    journal: Journal = None,
    fail_on: Forgive = None,
    form: Format = None,
    output: Output = None,
    color: Color = ColorMode.AUTO,
    verbose: Verbose = False,
) -> None:
    """Positions from the sink: where a store was lost, or is not to be believed.

    Example: reshardctl rebuild kcl://my-application --from s3a://my-lake/orders --stream my-stream
    """
    from reshardctl.cli.fix_terminal import FixTerminal
    from reshardctl.commands.rebuild import RebuildRequest, plan_rebuild
    from reshardctl.commands.rebuild import rebuild as rebuilt
    from reshardctl.commands.requests import Sink
    from reshardctl.console.destinations import destinations, forgiving, one_document
    from reshardctl.console.output import Output
    from reshardctl.render.formats import BY_HAND

    places = destinations(form, output, BY_HAND if dry_run else ())
    request = RebuildRequest(
        locator, plan, resume, out, count=count, assume_stopped=assume_stopped, watch=watch,
        journal=journal, stream=stream, accept=accept, recreated=recreated, created=created,
        config=config,
        sink=Sink(sink or "", kind, tuple(column or ()), master, remote, against),
        account=replace(account, budget=probe_budget),
        by_hand=any(place.format in BY_HAND for place in places),
    )
    shown = Output(places, color, verbose, (), forgiving=forgiving(fail_on, dry_run))
    quiet = one_document(places) and not dry_run
    with FixTerminal(shown, dry_run=dry_run, quiet=quiet, yes=yes) as terminal:
        code = terminal.fix(request, plan_rebuild, rebuilt)
    raise typer.Exit(code)
