"""Progress on stderr, at a terminal only: one line, which is erased at the end."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from shutil import get_terminal_size

QUIET = 1.0
"""Seconds of one listing or reading before anything is shown."""
OFTEN = 0.1
"""Seconds between two counts that are shown."""
LOOK = 0.25
"""Seconds between two looks for a service that does not answer."""
_ERASE = "\r\x1b[K"

_shown = ""
_silent = False


def silence(silent: bool) -> None:
    """Show neither progress nor notes, as with `--quiet`."""
    global _silent
    _silent = silent


def counter(what: str) -> Callable[..., None]:
    """A function that shows a count once it has been growing for `QUIET` seconds.

    It is called with a count, and with the total if that is known. A count that has not grown
    begins anew. what: what is counted and done, such as "files read".
    """
    if not sys.stderr.isatty():
        return lambda *_counts: None
    began, first, last, shown = time.monotonic(), 0, 0, 0.0

    def show(done: int, total: int | None = None) -> None:
        nonlocal began, first, last, shown
        now = time.monotonic()
        if done <= last or not last:
            began, first = now, done
        last = done
        if now - began > QUIET and now - shown >= OFTEN:
            shown = now
            _write(sentence(what, done, total, (done - first) / (now - began)))

    return show


def sentence(what: str, done: int, total: int | None, rate: float) -> str:
    """`1,200 of 48,000 files read, 400 a second, 1m57s left`. rate: how many a second."""
    parts = [f"{done:,} {what}" if total is None else f"{done:,} of {total:,} {what}"]
    if rate > 0:
        parts.append(f"{rate:,.0f} a second" if rate >= 1 else f"{60 * rate:,.0f} a minute")
        if total is not None and total > done:
            from reshardctl.model.times import duration  # only here: --help imports this module

            parts.append(f"{duration(math.ceil((total - done) / rate))} left")
    return ", ".join(parts)


def phase(text: str) -> None:
    """Show what is being waited for."""
    if sys.stderr.isatty():
        _write(text)


def name_who_is_silent() -> None:
    """From now on show which service has not answered for `QUIET` seconds."""
    if sys.stderr.isatty():
        threading.Thread(target=_name_who_is_silent, daemon=True).start()


def _name_who_is_silent() -> None:
    silence = Silence()
    while True:
        time.sleep(LOOK)
        silence.look()


class Silence:
    """Names the service that has been waited for the longest, as often as it looks."""

    def __init__(self) -> None:
        self._since: dict[object, float] = {}
        """The questions that were open at the last look, each with when it was first seen."""
        self._text = ""

    def look(self) -> None:
        """Show the service, with the seconds; erase that once it has answered."""
        from reshardctl.model.retry import unanswered  # only here: --help imports this module

        now, asked = time.monotonic(), unanswered()
        self._since = {question: self._since.get(question, now) for question in asked}
        oldest = next(iter(self._since), None)
        waited = 0.0 if oldest is None else now - self._since[oldest]
        before, self._text = self._text, ""
        if oldest is not None and waited >= QUIET:
            self._text = f"{waited:.0f} s without an answer from {asked[oldest]}"
            if _shown != self._text:
                _write(self._text)
        elif before and _shown == before:
            clear()


def note(text: str) -> None:
    """Write a note beside the result, at a terminal or not."""
    if not _silent:
        say(text)


def say(*lines: str) -> None:
    """Write lines on stderr. Nothing in one of them ends it, steers a terminal or is a secret."""
    from reshardctl.render.escape import escape  # only here: --help imports this module

    clear()
    for line in lines:
        print(escape(line), file=sys.stderr, flush=True)


def clear() -> None:
    """Erase the line; to be called before anything else is printed."""
    global _shown
    if _shown:
        print(_ERASE, end="", file=sys.stderr, flush=True)
        _shown = ""


def _write(text: str) -> None:
    global _shown
    if _silent:
        return
    from reshardctl.render.escape import escape

    # Of a wrapped line only the last can be erased.
    shown = escape(text)[: get_terminal_size().columns - 1]
    print(f"{_ERASE}{shown}", end="", file=sys.stderr, flush=True)
    _shown = text
