"""Progress on stderr, for a person at a terminal only; one line, removed at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

QUIET = 1.0
"""Seconds of a listing before anything is shown."""
_ERASE = "\r\x1b[K"

_standing = False


def listing_progress() -> Callable[[int], None]:
    """Shows the number of shards listed so far; a smaller one begins another listing."""
    if not sys.stderr.isatty():
        return lambda _count: None
    began, last = time.monotonic(), 0

    def show(count: int) -> None:
        nonlocal began, last
        if count <= last or not last:
            began = time.monotonic()
        last = count
        if time.monotonic() - began > QUIET:
            _write(f"{count} shards listed")

    return show


def reading_progress() -> Callable[[int, int], None]:
    """Shows how many of how many files are read so far."""
    if not sys.stderr.isatty():
        return lambda _done, _all: None
    began = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal began
        if done == 1:
            began = time.monotonic()
        if time.monotonic() - began > QUIET:
            _write(f"{done} of {total} files read")

    return show


def phase(text: str) -> None:
    """Shows what is being waited for."""
    if sys.stderr.isatty():
        _write(text)


def note(text: str) -> None:
    """Prints a remark beside the result, terminal or not."""
    clear()
    print(text, file=sys.stderr, flush=True)


def clear() -> None:
    """Removes the line, before anything else is printed."""
    global _standing
    if _standing:
        print(_ERASE, end="", file=sys.stderr, flush=True)
        _standing = False


def _write(text: str) -> None:
    global _standing
    print(f"{_ERASE}{text}", end="", file=sys.stderr, flush=True)
    _standing = True
