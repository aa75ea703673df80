"""Progress on stderr, at a terminal only: one line, which is erased at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

QUIET = 1.0
"""Seconds of one listing or reading before anything is shown."""
_ERASE = "\r\x1b[K"

_shown = False
_silent = False


def silence(silent: bool) -> None:
    """Show neither progress nor notes, as with `--quiet`."""
    global _silent
    _silent = silent



def delayed(text: str) -> Callable[..., None]:
    """A function that shows counts once they have been growing for `QUIET` seconds.

    text: what is shown, with `{}` for each count. A first count that has not grown begins anew.
    """
    if not sys.stderr.isatty():
        return lambda *_counts: None
    began, last = time.monotonic(), 0

    def show(*counts: int) -> None:
        nonlocal began, last
        if counts[0] <= last or not last:
            began = time.monotonic()
        last = counts[0]
        if time.monotonic() - began > QUIET:
            _write(text.format(*counts))

    return show


def phase(text: str) -> None:
    """Show what is being waited for."""
    if sys.stderr.isatty():
        _write(text)


def note(text: str) -> None:
    """Write a note beside the result, at a terminal or not."""
    if not _silent:
        clear()
        print(text, file=sys.stderr, flush=True)


def clear() -> None:
    """Erase the line; to be called before anything else is printed."""
    global _shown
    if _shown:
        print(_ERASE, end="", file=sys.stderr, flush=True)
        _shown = False


def _write(text: str) -> None:
    global _shown
    if _silent:
        return
    print(f"{_ERASE}{text}", end="", file=sys.stderr, flush=True)
    _shown = True
