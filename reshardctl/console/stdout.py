"""Writes texts to stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from shutil import get_terminal_size

from reshardctl.console.failures import PipeClosed
from reshardctl.console.progress import clear


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
