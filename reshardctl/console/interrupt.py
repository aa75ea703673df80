"""SIGINT and SIGTERM while rows are written: the current step is finished, then we stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_asked = False


def interrupted() -> bool:
    """Whether a signal has asked to stop."""
    return _asked


def treat_sigterm_as_ctrl_c() -> None:
    """Makes SIGTERM outside of writing end the command as Ctrl-C does."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def ignore_signals() -> None:
    """Ignores signals from now on: the command is at its end, and its exit code is known."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def finishing_the_step() -> Iterator[None]:
    """A context in which a signal only sets `interrupted`, which is read between steps."""
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}

    def ask(_number: int, _frame: FrameType | None) -> None:
        global _asked
        _asked = True

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # keeps what the parent process ignores
            signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
