"""Writes results and failures: format, width and colours, to stdout or to a file.

People read a failure on stderr. A reader of `--format json` gets one document on stdout, whatever
happened: the report, or an error with its exit code. Files that were named get the same, so that no
report of an earlier run is taken for one of this. A document that carries the exit code of the
command is left as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from reshardctl.console.destinations import (
    ColorMode,
    Destination,
    destinations,
    earlier_metrics,
)
from reshardctl.console.failures import PipeClosed
from reshardctl.console.progress import clear
from reshardctl.errors import ReshardError, UsageError
from reshardctl.exit import Exit
from reshardctl.render.context import Context
from reshardctl.render.formats import BY_HAND, METRICS, Format

if TYPE_CHECKING:
    from reshardctl.render.content.documents import Result
    from reshardctl.render.document import Document

PIPED_WIDTH = 80

VERBS = frozenset({"inspect", "fix", "rebuild", "undo", "discover", "audit", "status", "explain"})
"""Commands whose `--output` takes a report. The output of others must not be overwritten."""
MORE = {"inspect": METRICS, "status": METRICS, "fix": BY_HAND, "rebuild": BY_HAND}
"""What their `--format` takes besides reports."""

_places: tuple[Destination, ...] = ()
_shown: dict[Destination, Exit] = {}
"""The exit code in the document that stands at each place."""


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

    forgiving: bool = False
    """Whether something to do, or findings, end a command with 0."""

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

    def ends_with(self, code: Exit) -> Exit:
        """What a command ends with whose result has this code."""
        return Exit.OK if self.forgiving and code is Exit.FINDINGS else code

    def write(self, result: Result, code: Exit) -> None:
        """Write a command's result to each destination in its format.

        Files come first: a reader of stdout that goes away takes none of them with it.
        code: of the result.
        """
        from reshardctl.render.formats import write as written

        code = self.ends_with(code)
        texts = [
            written(result, _format(destination), self._context(destination, code))
            for destination in self.destinations
        ]
        for destination, text in reversed(list(zip(self.destinations, texts, strict=True))):
            _put(destination, text)
            _shown[destination] = code

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
    return destination.format or Format.TEXT


def _terminal(destination: Destination) -> bool:
    return destination.file is None and sys.stdout.isatty()


def show(lines: Iterable[str]) -> None:
    """Writes lines without control characters, and in ASCII if stdout takes nothing else."""
    from reshardctl.render.escape import ascii_only, escape

    for line in lines:
        write(f"{escape(line) if unicode_is_read() else ascii_only(escape(line))}\n")


def write(text: str) -> None:
    """Writes a text whose values were made harmless one by one; a secret in it is masked."""
    from reshardctl.given_secrets import masked

    clear()
    try:
        sys.stdout.write(masked(text))
        sys.stdout.flush()
    except BrokenPipeError:
        raise PipeClosed from None


def unicode_is_read() -> bool:
    """Whether stdout takes more than ASCII."""
    return (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")


def columns() -> int | None:
    """The width of the terminal that stdout is, `None` if it is none."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def await_failure(arguments: Sequence[str]) -> None:
    """Notes where this command's documents go.

    The options are read leniently, because wrong ones are reported too.
    """
    global _places
    _shown.clear()
    verb = arguments[0] if arguments else ""
    _places = _named(arguments, MORE.get(verb, ())) if verb in VERBS else ()


def forget_shown() -> None:
    """Begins another round of the same command: no place has a document of it yet."""
    _shown.clear()


def write_failure(error: ReshardError) -> None:
    """Writes the failure to every place without such a document.

    Never fails itself: stderr has it.
    """
    for destination in _places:
        if _shown.get(destination) == error.exit or not _spoken(destination):
            continue
        with suppress(ReshardError, OSError, PipeClosed):
            _tell(destination, error)


def _spoken(destination: Destination) -> bool:
    if destination.file is not None:
        return True
    form = destination.format
    if form is None or (destination in _shown and form.one_document):
        return False
    return form.spoken


def _tell(destination: Destination, error: ReshardError) -> None:
    from reshardctl.render.formats import write as written

    context = Context(exit=error.exit, earlier=earlier_metrics(destination))
    _put(destination, written(error, destination.format or Format.CONCISE, context))


def _put(destination: Destination, text: str) -> None:
    if destination.file is None:
        write(text)
        return
    from reshardctl.given_secrets import masked
    from reshardctl.stores.named_file import replace_file

    replace_file(Path(destination.file), masked(text))


def _named(arguments: Sequence[str], more: Sequence[Format]) -> tuple[Destination, ...]:
    formats, output = [], None
    for index, word in enumerate(arguments):
        if word == "--":  # what follows is no option
            break
        name, joint, value = word.partition("=")
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        if name == "--format":
            formats.append(value if joint else following)
        elif name == "--output":
            output = value if joint else following
        elif word == "-o":
            output = following
    try:
        return destinations(formats, output, more)
    except UsageError:
        return _valid(formats, more)


def _valid(formats: Sequence[str], more: Sequence[Format]) -> tuple[Destination, ...]:
    """The first format that is valid, for stdout: the others contradict it or themselves."""
    for text in formats:
        with suppress(UsageError):
            return (Destination(destinations([text], None, more)[0].format, None),)
    return ()
