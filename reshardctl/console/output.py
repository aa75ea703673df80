"""Writes results: format, width, colours, and stdout or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from reshardctl.console import error_documents
from reshardctl.console.destinations import ColorMode, Destination, earlier_metrics
from reshardctl.console.stdout import unicode_is_read, write
from reshardctl.errors import UsageError
from reshardctl.exit import Exit
from reshardctl.render.context import Context
from reshardctl.render.formats import Format

if TYPE_CHECKING:
    from reshardctl.render.content.documents import Result
    from reshardctl.render.document import Document

PIPED_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Output:
    """Writes one command's results. suggested_command: the arguments that name what it worked on.

    A file that cannot be written is a UsageError at once, not after something else was written.
    """

    destinations: Sequence[Destination]
    color: ColorMode
    verbose: bool
    suggested_command: Sequence[str]
    sink: tuple[str, ...] = ()
    """The arguments that name the sink whose positions are wanted."""
    name: str = ""
    """What to call the consumer among several; "" for one alone."""
    per_shard: bool = False
    """Whether metrics have a series for each shard."""
    piped_width: int | None = None
    """Columns where stdout is no terminal, and of files; `None` is PIPED_WIDTH."""

    def __post_init__(self) -> None:
        for destination in self.destinations:
            if destination.file is not None:
                from reshardctl.stores.named_file import check_file

                check_file(Path(destination.file))

    def check_formats(self, kind: type[Document[Any]], problem: str) -> None:
        """UsageError, which states the problem, for a format whose view such documents lack."""
        known = [form for form in Format if kind.has(form.view)]
        for name in map(_format, self.destinations):
            if name not in known:
                raise UsageError(
                    f"--format {name} {problem}", f"known here are {', '.join(known)}"
                )

    def write(self, result: Result, code: Exit) -> None:
        """Write a command's result to each destination in its format.

        Files come first: a reader of stdout that goes away takes none of them with it.
        code: what the command ends with.
        """
        from reshardctl.render import write as written

        texts = [
            written(result, _format(destination), self._context(destination, code))
            for destination in self.destinations
        ]
        for destination, text in reversed(list(zip(self.destinations, texts, strict=True))):
            if destination.file is None:
                write(text)
            else:
                from reshardctl.given_secrets import masked
                from reshardctl.stores.named_file import replace_file

                replace_file(Path(destination.file), masked(text))
            error_documents.shown(destination, code)

    def _context(self, destination: Destination, code: Exit) -> Context:
        piped = PIPED_WIDTH if self.piped_width is None else self.piped_width
        width = get_terminal_size().columns if _terminal(destination) else piped
        plain = destination.file is None and not unicode_is_read()
        colored = self._colored(destination)
        return Context(
            tuple(self.suggested_command), width, colored, plain, self.verbose, code, self.sink,
            self.name, self.per_shard, earlier_metrics(destination),
        )

    def _colored(self, destination: Destination) -> bool:
        if self.color is not ColorMode.AUTO:
            return self.color is ColorMode.ALWAYS
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return _terminal(destination) or bool(os.environ.get("FORCE_COLOR"))


def _format(destination: Destination) -> Format:
    if destination.format is not None:
        return destination.format
    return Format.TEXT if _terminal(destination) else Format.CONCISE


def _terminal(destination: Destination) -> bool:
    return destination.file is None and sys.stdout.isatty()
