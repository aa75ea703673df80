"""Signs of progress on stderr, for a person at a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

QUIET = 1.0
"""Seconds before anything is shown."""


def listing_progress() -> Callable[[int], None]:
    """Called with the number of shards listed so far."""
    if not sys.stderr.isatty():
        return lambda _count: None
    began = time.monotonic()

    def show(count: int) -> None:
        if time.monotonic() - began > QUIET:
            print(f"\r{count} shards listed", end="", file=sys.stderr, flush=True)

    return show


def phase(text: str) -> None:
    """One line of what is being waited for."""
    if sys.stderr.isatty():
        print(f"\r{text}", file=sys.stderr, flush=True)
