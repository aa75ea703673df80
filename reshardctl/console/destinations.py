"""Which format goes where: one to stdout or to `--output`, others to files of their own.

The options' words choose the output and the exit code. New metrics replace earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from reshardctl.errors import UsageError
from reshardctl.render.formats import BY_HAND, METRICS, REPORTS, Format


class FailOn(StrEnum):
    """Severity from which `inspect` exits 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


class Forgiving(StrEnum):
    """What a dry run never fails on: that there is something to do."""

    NEVER = "never"


class ColorMode(StrEnum):
    """When to use colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def forgiving(fail_on: Forgiving | None, dry_run: bool) -> bool:
    """Whether something to do is no failure; UsageError for a command that writes."""
    if fail_on is not None and not dry_run:
        raise UsageError(
            "--fail-on never belongs to --dry-run: what is written, or left alone, is not hidden",
            "add --dry-run, or leave --fail-on out",
        )
    return fail_on is not None


@dataclass(frozen=True, slots=True)
class Destination:
    """A place of output. format: `None` for its default. file: `None` for stdout."""

    format: Format | None
    file: str | None


def destinations(
    formats: Sequence[str] | None, output: str | None, more: Sequence[Format] = ()
) -> tuple[Destination, ...]:
    """The places of `--format NAME`, `--format NAME=FILE` and `--output FILE`, main one first.

    The main one is the format without a file, or the default; `--output -` is stdout. more: the
    formats that the command has besides those of a report. Raises UsageError for an unknown name,
    for two formats without a file and for one file named twice.
    """
    named = [_parsed(text, more) for text in formats or ()]
    main = [destination for destination in named if destination.file is None]
    if len(main) > 1:
        first, second = (destination.format for destination in main[:2])
        raise UsageError(
            f"--format {first} and --format {second} both write to stdout",
            f"write one of them to a file: --format {second}=FILE",
        )
    first_place = Destination(main[0].format if main else None, file_of(output))
    places = (first_place, *(destination for destination in named if destination.file is not None))
    _distinct([destination.file for destination in places if destination.file is not None])
    return places


def file_of(output: str | None) -> str | None:
    """The file that `--output` names, `None` for stdout; UsageError if it is a format's name."""
    if output is not None and output.lower() in [*Format]:
        raise UsageError(
            f"-o {output}: {output.lower()} is a format, and -o names a file",
            f"--format {output.lower()}; for a file of that name -o ./{output}",
        )
    return None if output == "-" else output


def one_document(places: Sequence[Destination]) -> bool:
    """Whether the main place takes one document, so that only the outcome is wanted there."""
    form = places[0].format
    return form is not None and form.one_document


def _parsed(text: str, more: Sequence[Format]) -> Destination:
    name, joint, file = text.partition("=")
    known = [*REPORTS, *more]
    if name in METRICS and name not in more:
        raise UsageError(
            f"--format {name}: this command has no metrics to write",
            f"reshardctl inspect CONSUMER --stream STREAM --format {name}=FILE",
        )
    if name in BY_HAND and name not in more:
        raise UsageError(
            f"--format {name} belongs to --dry-run of fix and rebuild: it prints the commands that "
            "write a plan",
            f"reshardctl fix CONSUMER --stream STREAM --dry-run --format {name}",
        )
    if name not in known:
        from reshardctl.model.phrases import did_you_mean

        raise UsageError(
            f"--format {text!r}: {name!r} is no format",
            did_you_mean(name, known, f"known are {', '.join(known)}"),
        )
    if joint and not file:
        raise UsageError(f"--format {text!r} names no file", f"--format {name}=FILE")
    if file == "-":
        raise UsageError(f"--format {text!r}: stdout needs no name", f"--format {name}")
    return Destination(Format(name), file or None)


def wants_metrics(places: Sequence[Destination]) -> bool:
    """Whether metrics go to one of them."""
    return any(place.format in METRICS for place in places)


def _distinct(files: Sequence[str]) -> None:
    """Refuses two formats in one file: only the last one would remain."""
    seen: set[Path] = set()
    for file in files:
        path = Path(file).resolve()
        if path in seen:
            raise UsageError(f"{file} is named twice", "give every format a file of its own")
        seen.add(path)


def earlier_metrics(destination: Destination) -> str:
    """The metrics that a file holds and that new ones replace; "" for any other place."""
    if destination.file is None or destination.format not in METRICS:
        return ""
    from reshardctl.stores.named_file import text_of

    return text_of(Path(destination.file))
