"""`reshardctl undo`: put it back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli.options import (
    ColorMode,
    ColorOption,
    EndpointOption,
    FormatOption,
    OutputOption,
    ProfileOption,
    RegionOption,
    RoleOption,
    VerboseOption,
)


def undo(
    journal: Annotated[
        Path, typer.Argument(metavar="JOURNAL", help="The journal of a fix.", show_default=False)
    ],
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
    form: FormatOption = None,
    output: OutputOption = None,
    color: ColorOption = ColorMode.AUTO,
    verbose: VerboseOption = False,
) -> None:
    """Put back what a fix wrote: every attribute and type, but counters and owners.

    Refuses as a whole if the consumer has saved since.
    Example: reshardctl undo ~/.local/state/reshardctl/20260922T125811Z-app-9f3c41ab.jsonl -n
    """
    from reshardctl.cli import undoing
    from reshardctl.cli.connect import Account
    from reshardctl.cli.fixing import Asked, patience

    account = Account(region, profile, role_arn, endpoint_url or ())
    asked = Asked(
        account, dry_run, None, yes, assume_stopped, patience(watch, dry_run), journal, form,
        output, color, verbose,
    )
    raise typer.Exit(undoing.undo(asked, journal))
