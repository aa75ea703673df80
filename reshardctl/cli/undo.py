"""`reshardctl undo`: restores what a fix overwrote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from reshardctl.cli import completion, options
from reshardctl.cli.write_options import WatchFirst
from reshardctl.console.destinations import ColorMode

if TYPE_CHECKING:
    from reshardctl.console.output import Output

DELETE = "Delete these journals?"


def undo(
    account: options.Account,
    journal: Annotated[
        str | None,
        typer.Argument(
            metavar="JOURNAL",
            help="The journal of a fix: its name or how that begins, its path, or s3://BUCKET/KEY. "
            "If it is lost: the plan's file. With --list a directory or s3://BUCKET/PREFIX.",
            show_default=False,
            autocompletion=completion.journals,
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Which journals there are, newest first.")
    ] = False,
    show: Annotated[
        bool,
        typer.Option(
            "--show",
            help="What the journal holds: its fix, how far that got, and each row before and "
            "after it. Reads only.",
        ),
    ] = False,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Delete journals of fixes that are finished, undone or were never begun. JOURNAL "
            "as with --list.",
        ),
    ] = False,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="With --prune: of fixes that began so long ago."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Show what would be put back.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Undo without asking.")] = False,
    assume_stopped: Annotated[
        bool, typer.Option("--assume-stopped", help="You know that every worker is stopped.")
    ] = False,
    watch: WatchFirst = None,
    whole_file: Annotated[
        bool,
        typer.Option(
            "--whole-file",
            help="Put the whole file back that somebody left unreadable since the fix.",
        ),
    ] = False,
    new_journal: Annotated[
        str | None,
        typer.Option(
            "--journal", metavar="PLACE",
            help="With a plan: where to journal the undo; a file, a directory or s3://…",
        ),
    ] = None,
    fail_on: options.Forgive = None,
    form: options.Format = None,
    output: options.Output = None,
    color: options.Color = ColorMode.AUTO,
    verbose: options.Verbose = False,
) -> None:
    """Put back what a fix wrote: every attribute and type, but counters and owners.

    Refuses as a whole if the consumer has saved since. Without JOURNAL: lists them, exit 2.
    Example: reshardctl undo 20260922T125811Z-app-9f3c41ab --dry-run
    """
    from reshardctl.cli.terminal import UNDONE, Terminal, after_writing, ask
    from reshardctl.codec.argv import words
    from reshardctl.commands.exclusions import require_compatible, set_in
    from reshardctl.commands.journals import Journals
    from reshardctl.commands.undo import UndoResult
    from reshardctl.commands.undo import undo as undone
    from reshardctl.commands.undo_source import UndoRequest
    from reshardctl.console.destinations import destinations, forgiving, one_document
    from reshardctl.console.output import Output
    from reshardctl.errors import UsageError
    from reshardctl.exit import Exit
    from reshardctl.render.content.documents import JournalsDocument
    from reshardctl.render.content.undo import question

    out = Output(
        places := destinations(form, output), color, verbose, words(account),
        forgiving=forgiving(fail_on, dry_run),
    )
    if older_than is not None and not prune:
        raise UsageError(
            "--older-than belongs to --prune", "add --prune, or leave --older-than out"
        )
    given = set_in({
        "--prune": prune, "--list": list_, "--show": show, "--yes": yes, "--dry-run": dry_run,
        "--journal": bool(new_journal), "--whole-file": whole_file,
    })
    require_compatible(given, "--prune", "--list", "--show")
    if prune:
        _prune(journal, older_than, account, out, dry_run=dry_run, yes=yes)
        return
    if show:
        out.check_formats(JournalsDocument, "shows no journal")
        out.write(Journals(account).shown(journal), Exit.OK)
        return
    if list_ or journal is None:
        _list(journal, account, out, asked=list_)
        return
    quiet = one_document(places)
    request = UndoRequest(
        journal, account=account, dry_run=dry_run, assume_stopped=assume_stopped, watch=watch,
        whole_file=whole_file, journal=new_journal,
    )

    def confirm(wanted: UndoResult) -> bool:
        if not quiet:
            replace(out, suggested_command=wanted.words).write(wanted.undoing, Exit.FINDINGS)
        accepting = request.accepting(wanted.undoing.now.snapshot.locator)
        return yes or ask(accepting, shown=not quiet, question=question(wanted.undoing))

    with Terminal(yes=yes) as terminal:
        result = undone(request, confirm, terminal)
        written = {} if result.undoing.written is None else {result.undoing.journal: ()}
        with after_writing(UNDONE, written):
            replace(out, suggested_command=result.words).write(result.undoing, result.exit)
    raise typer.Exit(out.ends_with(result.exit))


def _list(folder: str | None, account: options.Account, out: Output, *, asked: bool) -> None:
    """Lists the journals; UsageError where no list was asked for, but no journal is named."""
    from reshardctl.commands.journals import Journals
    from reshardctl.errors import UsageError
    from reshardctl.exit import Exit
    from reshardctl.render.content.documents import JournalsDocument

    listing = Journals(account).listing(folder)
    out.check_formats(JournalsDocument, "lists no journals")
    out.write(listing, Exit.OK if asked else Exit.USAGE)
    if not asked:
        what = "one of these" if listing.entries else f"{listing.location} has none"
        raise UsageError(
            "no journal is named; nothing was undone", f"reshardctl undo JOURNAL   # {what}"
        )


def _prune(
    folder: str | None, older_than: str | None, account: options.Account, out: Output, *,
    dry_run: bool, yes: bool,
) -> None:
    """Shows what would be deleted, asks, and deletes."""
    from reshardctl.cli.terminal import ask
    from reshardctl.commands.journals import PruneRequest, exit_of
    from reshardctl.commands.journals import prune as pruned
    from reshardctl.exit import Exit
    from reshardctl.render.content.documents import PruningDocument
    from reshardctl.render.content.journals import Pruning

    out.check_formats(PruningDocument, "shows no journals that are deleted")
    request = PruneRequest(place=folder, older_than=older_than, account=account, dry_run=dry_run)

    def confirm(wanted: Pruning) -> bool:
        if not yes:
            out.write(wanted, Exit.FINDINGS)
        return yes or ask(request.accepting, shown=True, question=DELETE)

    result = pruned(request, confirm)
    out.write(result, exit_of(result))
    raise typer.Exit(out.ends_with(exit_of(result)))
