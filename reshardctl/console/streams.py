"""Standard streams that are closed, or full."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from reshardctl.exit import Exit

if TYPE_CHECKING:
    from typing_extensions import Buffer

_FAILURES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def missing_stream() -> int:
    """Exit.OK if stdin and stdout are open; otherwise Exit.UNKNOWN, after a line on stderr.

    Python has None for a stream that was closed when it started (`>&-`), and the next file that is
    opened takes its number: what is meant for the terminal would go there.
    """
    if sys.stdout is None:
        _say("stdout is closed; to hide the report run it with >/dev/null")
        return Exit.UNKNOWN
    if sys.stdin is None:
        _say("stdin is closed; run it with </dev/null")
        return Exit.UNKNOWN
    return Exit.OK


class _Unfailing(io.FileIO):
    """A descriptor whose failures to write are ignored."""

    def write(self, content: Buffer) -> int:
        """Writes what it can; says that it was everything."""
        with suppress(OSError):
            super().write(content)
        return memoryview(content).nbytes


def unfailing_stderr() -> None:
    """Has what stderr does not accept dropped: full, closed, a terminal that has gone.

    The exit code says how the command ended; an error while it is explained would change it.
    """
    number = 2
    if sys.stderr is None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, number)  # so that no other file gets this number
        if nothing != number:
            os.close(nothing)
        os.set_inheritable(number, True)
    encoding = None if sys.stderr is None else sys.stderr.encoding
    raw = _Unfailing(number, "wb", closefd=False)
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=True
    )


def stdout_failure(error: Exception) -> str:
    """Why stdout accepts nothing more, if that is what the error says: full, closed, over a limit.

    A file that a command names has its name in the error, or gives an error of ours.
    """
    if not isinstance(error, OSError) or error.filename is not None:
        return ""
    return (error.strerror or "failed") if error.errno in _FAILURES else ""


def drop_stdout() -> None:
    """Discards what is left in stdout's buffer, on which the interpreter would fail at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(what: str) -> None:
    with suppress(OSError, AttributeError):
        print(f"error: {what}", file=sys.stderr)
