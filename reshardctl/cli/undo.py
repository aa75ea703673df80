"""`reshardctl undo`: put it back."""

from __future__ import annotations

from typing import Annotated

import typer

from reshardctl.cli.options import (
    ColorOption,
    EndpointOption,
    FormatOption,
    OutputOption,
    ProfileOption,
    RegionOption,
    RoleOption,
    VerboseOption,
)
from reshardctl.console.choices import ColorMode


def undo(
    journal: Annotated[
        str | None,
        typer.Argument(
            metavar="JOURNAL",
            help="The journal of a fix: its name or how that begins, its path, or s3://BUCKET/KEY. "
            "If it is lost: the plan's file. With --list a directory or s3://BUCKET/PREFIX.",
            show_default=False,
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Which journals there are, newest first.")
    ] = False,
    region: RegionOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    endpoint_url: EndpointOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Show what would be put back.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Undo without asking.")] = False,
    assume_stopped: Annotated[
        bool, typer.Option("--assume-stopped", help="You know that every worker is stopped.")
    ] = False,
    watch: Annotated[
        str, typer.Option(metavar="DURATION", help="How long to look for signs of life.")
    ] = "30s",
    whole_file: Annotated[
        bool,
        typer.Option(
            "--whole-file",
            help="Put the whole file back that somebody left unreadable since the fix.",
        ),
    ] = False,
    place: Annotated[
        str | None,
        typer.Option(
            "--journal", metavar="PLACE",
            help="With a plan: where to journal the undo; a file, a directory or s3://…",
        ),
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    color: ColorOption = ColorMode.AUTO,
    verbose: VerboseOption = False,
) -> None:
    """Put back what a fix wrote: every attribute and type, but counters and owners.

    Refuses as a whole if the consumer has saved since. Without JOURNAL: lists them, exit 2.
    Example: reshardctl undo 20260922T125811Z-app-9f3c41ab --dry-run
    """
    from reshardctl.cli.optimized import refuse_optimized
    from reshardctl.commands import undo as undoing
    from reshardctl.commands.account import Account
    from reshardctl.commands.fix import nothing_else, patience
    from reshardctl.commands.fix_request import Asked
    from reshardctl.commands.journals import Journals

    refuse_optimized(dry_run)
    account = Account(region, profile, role_arn, endpoint_url or ())
    asked = Asked(
        account, dry_run, None, yes, assume_stopped, patience(watch, dry_run), place, form,
        output, color, verbose,
    )
    if list_ or journal is None:
        if list_:
            nothing_else("--list", {
                "--yes": yes, "--dry-run": dry_run, "--journal": bool(place),
                "--whole-file": whole_file,
            })
        raise typer.Exit(undoing.show_journals(asked, journal, wanted=list_))
    Journals(account).check(place)
    raise typer.Exit(undoing.undo(asked, journal, whole_file=whole_file))
