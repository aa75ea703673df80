"""Signals that end a command: while rows are written, the current step is finished first."""

from __future__ import annotations

import os
import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a request to end, and a terminal or connection that has gone."""

SEEN = b"\nstopping as soon as the write in hand is answered\n"
"""What a terminal is told of a signal while rows are written."""

_asked = False


def interrupted() -> bool:
    """Whether a signal has asked to stop."""
    return _asked


def end_as_by_ctrl_c() -> None:
    """Makes the other signals outside of writing end the command as Ctrl-C does."""
    for number in SIGNALS[1:]:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, signal.default_int_handler)


def ignore_signals() -> None:
    """Ignores signals from now on: the command is at its end, and its exit code is known.

    An interrupt that came within exec() of a text, as dataclasses make their methods, is kept by
    CPython beyond its `except`, and `python -m` would end by SIGINT in place of the exit code. The
    next exec() forgets it (run_eval_code_obj of Python/pythonrun.c, 3.11).
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    exec("")  # noqa: S102 - an empty text


def finish_the_step() -> None:
    """From now on a signal only sets `interrupted`, which is read between steps."""

    def ask(_number: int, _frame: FrameType | None) -> None:
        global _asked
        if not _asked and os.isatty(2):
            os.write(2, SEEN)  # print is not safe in a handler
        _asked = True

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # keeps what the parent process ignores
            signal.signal(number, ask)
