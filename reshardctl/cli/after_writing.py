"""The report of rows that are written: if it fails, what was written is said all the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from reshardctl.console.failures import PipeClosed
from reshardctl.console.streams import drop_stdout, stdout_failure
from reshardctl.errors import HalfDone, ReshardError, command_line

FIXED = "everything was written"
UNDONE = "everything was put back"


@contextmanager
def after_writing(done: str, journals: Sequence[str]) -> Iterator[None]:
    """A context that writes the report. HalfDone, naming the journals, if that fails.

    The code of the failure itself says that nothing was written. done: FIXED or UNDONE. journals:
    none if nothing was written.
    """
    try:
        yield
    except Exception as error:
        if not journals:
            raise
        raise HalfDone(
            f"{done}, but the report was not: {_why(error)}", _ways(done, journals), journals[0]
        ) from error


def _ways(done: str, journals: Sequence[str]) -> str:
    """What shows what was written, and what puts it back, one command for each journal."""
    show = "; ".join(command_line("reshardctl", "undo", "--show", name) for name in journals)
    back = "; ".join(command_line("reshardctl", "undo", name) for name in journals)
    return f"{show}   # or back: {back}" if done == FIXED else show


def _why(error: Exception) -> str:
    """What failed, after discarding what stdout does not take."""
    if isinstance(error, ReshardError):
        return error.what
    if isinstance(error, PipeClosed):
        drop_stdout()
        return "stdout: its reader has closed it"
    if why := stdout_failure(error):
        drop_stdout()
        return f"stdout: {why}"
    return f"unexpected {type(error).__name__}: {error}"
