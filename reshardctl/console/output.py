"""Writes results: format, width, colours, and stdout or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from reshardctl.console import error_documents as lastword
from reshardctl.console.choices import ColorMode, FormatName
from reshardctl.console.destinations import Destination
from reshardctl.console.stdout import unicode_is_read, write
from reshardctl.errors import UsageError
from reshardctl.exit import Exit
from reshardctl.render.context import Context
from reshardctl.stores.named_file import check_file, replace_file

if TYPE_CHECKING:
    from reshardctl.diagnosis.audit_report import AuditReport
    from reshardctl.diagnosis.discovery import Found
    from reshardctl.diagnosis.report import Report
    from reshardctl.render.data import Result
    from reshardctl.render.journals import Listing
    from reshardctl.render.many import Roundup
    from reshardctl.render.outcomes import Fixed, Saved, Undoing

PIPED_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Output:
    """Shows one command's results. again: the words that name what it worked on.

    A file that cannot be written is a UsageError at once, not after something else was written.
    """

    places: Sequence[Destination]
    color: ColorMode
    verbose: bool
    suggested_command: Sequence[str]
    sink: tuple[str, ...] = ()
    """The words that name the sink whose positions are wanted."""

    def __post_init__(self) -> None:
        for destination in self.places:
            if destination.file is not None:
                check_file(Path(destination.file))

    def inspect(self, report: Report, code: Exit) -> None:
        """Shows findings."""
        self.write(report, code)

    def plan(
        self, report: Report, code: Exit, *, dry_run: bool, saved: Saved | None = None
    ) -> None:
        """Shows what fix would write."""
        from reshardctl.render.outcomes import Planned

        self.write(Planned(report, dry_run, saved), code)

    def fixed(self, outcome: Fixed, code: Exit) -> None:
        """Shows what fix wrote."""
        self.write(outcome, code)

    def undo(self, undoing: Undoing, code: Exit) -> None:
        """Shows what undo restores, or has restored."""
        self.write(undoing, code)

    def journals(self, listing: Listing, code: Exit) -> None:
        """Lists journals. UsageError for a format that cannot list."""
        from reshardctl.render.journals import FORMATS

        for name in map(_name, self.places):
            if name not in FORMATS:
                raise UsageError(
                    f"--format {name} lists no journals", f"known here are {', '.join(FORMATS)}"
                )
        self.write(listing, code)

    def roundup(self, shown: Roundup, code: Exit) -> None:
        """Shows several consumers."""
        self.write(shown, code)

    def audit(self, report: AuditReport, code: Exit) -> None:
        """Shows what a sink holds."""
        self.write(report, code)

    def discovered(self, found: Found, code: Exit) -> None:
        """Shows whose positions the tables of an account hold."""
        self.write(found, code)

    def write(self, result: Result, code: Exit) -> None:
        """Writes a command's result in each place's format. code: the command's exit code."""
        from reshardctl.render import write as written

        self._deliver([
            (destination, written(result, _name(destination), self._context(destination, code)))
            for destination in self.places
        ], code)

    def _deliver(self, shown: Sequence[tuple[Destination, str]], code: Exit) -> None:
        """Writes files first: a reader of stdout that closes it takes none of them away."""
        for destination, text in reversed(shown):
            if destination.file is None:
                write(text)
            else:
                replace_file(Path(destination.file), text)
            lastword.shown(destination, code)

    def _context(self, destination: Destination, code: Exit) -> Context:
        width = get_terminal_size().columns if _terminal(destination) else PIPED_WIDTH
        plain = destination.file is None and not unicode_is_read()
        colored = self._colored(destination)
        return Context(
            tuple(self.suggested_command), width, colored, plain, self.verbose, code, self.sink
        )

    def _colored(self, destination: Destination) -> bool:
        if self.color is not ColorMode.AUTO:
            return self.color is ColorMode.ALWAYS
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return _terminal(destination) or bool(os.environ.get("FORCE_COLOR"))


def _name(destination: Destination) -> FormatName:
    if destination.format is not None:
        return destination.format
    return FormatName.TEXT if _terminal(destination) else FormatName.CONCISE


def _terminal(destination: Destination) -> bool:
    return destination.file is None and sys.stdout.isatty()
