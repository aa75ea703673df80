"""Options of a locator that several libraries read alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from reshardctl.consumers.spec import Options
from reshardctl.errors import UsageError
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import parse_instant

BY_TIME = "AT_TIMESTAMP"


def refuse_unknown(options: Options, names: Collection[str], library: str, takes: str) -> None:
    """Raises UsageError for an option not in `names`. takes: the known options, as text."""
    if unknown := sorted(set(options) - set(names)):
        raise UsageError(
            f"{library} has no option {unknown[0]!r}",
            did_you_mean(unknown[0], names, f"it takes {takes}"),
        )


def read_initial(
    text: str, modes: Iterable[str], library: str, write: str
) -> tuple[str, float | None]:
    """Read `initial=`: a start mode and, after AT_TIMESTAMP, Unix seconds if a time is given.

    Raises UsageError for anything else. write: how to write it, as text.
    """
    mode, colon, moment = text.partition(":")
    if mode not in modes or (colon and mode != BY_TIME):
        raise UsageError(f"initial={text}: not a start mode of {library}", write)
    return mode, parse_instant(moment, "initial") if colon else None


def times_of_option(options: Options, name: str) -> Mapping[str, float]:
    """The time at which shards start by this option: the option as it was given → Unix seconds.

    {} for another start. The option has been read before.
    """
    text = options.get(name, "")
    mode, colon, moment = text.partition(":")
    by_time = mode.upper() == BY_TIME and colon
    return {f"{name}={text}": parse_instant(moment)} if by_time else {}
