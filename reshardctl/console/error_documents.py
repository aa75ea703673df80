"""A failure as a document, in place of the report that a program waits for.

People read stderr, which says it in any case. A reader of `--format json` gets one document on
stdout, whatever happened: the report, or an error with its exit code. Files that were named get the
same, so that no report of an earlier run is taken for one of this. A document that carries the exit
code of the command is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reshardctl.console.destinations import Destination, destinations
from reshardctl.console.failures import PipeClosed
from reshardctl.errors import ReshardError, UsageError
from reshardctl.exit import Exit
from reshardctl.render.formats import Format

VERBS = frozenset({"inspect", "fix", "rebuild", "undo", "discover", "audit", "status", "explain"})
"""Commands whose `--output` takes a report. The output of others must not be overwritten."""
WITH_METRICS = frozenset({"inspect", "status"})
"""Those whose `--format` takes metrics."""

_places: tuple[Destination, ...] = ()
_shown: dict[Destination, Exit] = {}


def begin(arguments: Sequence[str]) -> None:
    """Notes where this command's documents go.

    The options are read leniently, because wrong ones are reported too.
    """
    global _places
    _shown.clear()
    verb = arguments[0] if arguments else ""
    _places = _named(arguments, verb in WITH_METRICS) if verb in VERBS else ()


def forget_shown() -> None:
    """Begins another round of the same command: no place has a document of it yet."""
    _shown.clear()


def shown(destination: Destination, code: Exit) -> None:
    """Notes that a document with the exit code `code` was written there."""
    _shown[destination] = code


def speak(error: ReshardError) -> None:
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
    from reshardctl.console.destinations import earlier_metrics
    from reshardctl.console.stdout import write
    from reshardctl.given_secrets import masked
    from reshardctl.render import write as written
    from reshardctl.render.context import Context
    from reshardctl.stores.named_file import replace_file

    context = Context(exit=error.exit, earlier=earlier_metrics(destination))
    text = written(error, destination.format or Format.CONCISE, context)
    if destination.file is None:
        write(text)
    else:
        replace_file(Path(destination.file), masked(text))


def _named(arguments: Sequence[str], metrics: bool) -> tuple[Destination, ...]:
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
        return destinations(formats, output, metrics)
    except UsageError:
        return _valid(formats, metrics)


def _valid(formats: Sequence[str], metrics: bool) -> tuple[Destination, ...]:
    """The first format that is valid, for stdout: the others contradict it or themselves."""
    for text in formats:
        with suppress(UsageError):
            return (Destination(destinations([text], None, metrics)[0].format, None),)
    return ()
