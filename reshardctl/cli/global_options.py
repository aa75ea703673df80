"""Options that every command takes, before or after its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

VALUED, FLAGS = "--debug", ("--quiet",)


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The global options of a command line, and the rest of it, each in its order.

    What stands after `--` is never an option.
    """
    ahead: list[str] = []
    rest: list[str] = []
    remaining = iter(arguments)
    for word in remaining:
        if word == "--":
            return ahead, [*rest, word, *remaining]
        if word in FLAGS or word.startswith(f"{VALUED}="):
            ahead.append(word)
        elif word == VALUED:
            ahead += [word, *([value] if (value := next(remaining, None)) is not None else [])]
        else:
            rest.append(word)
    return ahead, rest


def apply(quiet: bool, debug: Path | None) -> None:
    """Keep notes and progress off stderr, and log the calls to AWS.

    Raises:
        UsageError: The file of `--debug` cannot be written.
    """
    from reshardctl.aws import call_log
    from reshardctl.console import progress

    progress.silence(quiet)
    call_log.begin(debug)
