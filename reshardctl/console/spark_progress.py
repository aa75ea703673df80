"""Progress while Spark works: on a terminal every second, in a log every minute.

Many CI systems end a job without output for ten minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from threading import Event, Thread

from reshardctl.console import progress
from reshardctl.model.times import duration

Tasks = Callable[[], tuple[int, int] | None]
OFTEN, SELDOM = 1.0, 60.0
"""Seconds between two lines: for a person, and for a log."""


@contextmanager
def alive(text: str, tasks: Tasks, every: float | None = None) -> Iterator[None]:
    """Shows progress while the block runs. text: what is being done."""
    progress.phase(text[: _room()]) if sys.stderr.isatty() else progress.note(text)
    done = Event()
    watcher = Thread(target=_tell, args=(text, tasks, done, every), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join(2 * OFTEN)
        progress.clear()


def _tell(text: str, tasks: Tasks, done: Event, every: float | None) -> None:
    say = progress.phase if sys.stderr.isatty() else progress.note
    pause = every or (OFTEN if sys.stderr.isatty() else SELDOM)
    began = time.monotonic()
    while not done.wait(pause):
        try:
            now = sentence(text, tasks(), time.monotonic() - began, _room())
        except Exception:  # the driver may be gone; then the work itself fails
            return
        if not done.is_set():
            say(now)


def _room() -> int | None:
    """How many characters fit on a line of the terminal: only one line can be erased."""
    return get_terminal_size().columns - 1 if sys.stderr.isatty() else None


def sentence(
    text: str, tasks: tuple[int, int] | None, seconds: float, room: int | None = None
) -> str:
    """`reading lake/orders: 34 of 200 tasks of this stage, for 1m12s`."""
    many = "" if tasks is None else f" {tasks[0]:,} of {tasks[1]:,} tasks of this stage,"
    rest = f":{many} for {duration(int(seconds))}"
    if room is not None and len(text) + len(rest) > room:
        text = text[: max(0, room - len(rest) - 1)] + "…"
    return (text + rest)[:room]
