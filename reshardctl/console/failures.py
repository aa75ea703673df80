"""Turns every failure into one clear message and the right exit code."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable
from io import StringIO

import typer

from reshardctl.console import progress
from reshardctl.console.library_messages import plain
from reshardctl.console.streams import drop_stdout, stdout_failure
from reshardctl.errors import Cancelled, CannotTell, ReshardError, UsageError
from reshardctl.exit import Exit

PIPE_CLOSED = 141
"""128 + SIGPIPE: the reader of our output has closed it."""

_LONG_WORD = re.compile(r"\S{4097,}")
"""Longer than Linux's PATH_MAX."""
_SHOWN = 200
"""Characters of it."""


class PipeClosed(Exception):
    """BrokenPipeError under another name: typer would turn it into exit code 1, findings."""


def guarded(
    command: Callable[[], object], speak: Callable[[ReshardError], None] = lambda _error: None
) -> int:
    """Runs a command; every failure becomes a message on stderr and a code.

    speak: also tells the failure to a program that reads documents.
    """
    try:
        result = command()
        sys.stdout.flush()
        code = int(result) if isinstance(result, int) else Exit.OK
        if code == Exit.CANCELLED:  # typer turns a KeyboardInterrupt into this
            cancelled(speak)
        return code
    except ReshardError as error:
        say(error)
        speak(error)
        return error.exit
    except typer.Exit as stop:
        return stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        cancelled(speak)
        return Exit.CANCELLED
    except (BrokenPipeError, PipeClosed):
        drop_stdout()
        return PIPE_CLOSED
    except Exception as error:
        return _of_another_kind(error, speak)


def _of_another_kind(error: Exception, speak: Callable[[ReshardError], None]) -> int:
    """Reports what failed in stdout, an operand or an option, or a defect of ours."""
    if why := stdout_failure(error):
        drop_stdout()
        say(CannotTell(f"stdout: {why}; the output is not complete"))
        return Exit.UNKNOWN
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        wrong = too_long(error)
        say(wrong)
        speak(wrong)
        return wrong.exit
    show = getattr(error, "show", None)
    if show is None:
        code = unexpected(error)
        speak(ReshardError(f"unexpected {type(error).__name__}"))
        return code
    if isinstance(message := getattr(error, "message", None), str):
        from reshardctl.render.escape import escape

        error.message = escape(bounded(plain(message)))  # type: ignore[attr-defined]
    text = StringIO()
    show(file=text)
    progress.say(*text.getvalue().removesuffix("\n").split("\n"))
    speak(UsageError(_message(error), "see --help"))
    return Exit.USAGE


def _message(error: Exception) -> str:
    """What is wrong with an option, in the words of the library that read it."""
    message = getattr(error, "format_message", None)
    return str(message() if callable(message) else error)


def cancelled(speak: Callable[[ReshardError], None]) -> None:
    """Reports an interrupt outside of writing: during it, signals wait for the step to end."""
    what = "cancelled; this command wrote nothing"
    progress.say(what)
    speak(Cancelled(what))


def say(error: ReshardError) -> None:
    """Prints what happened, and the next command: a line each, whatever is quoted in them."""
    kind = {Exit.REFUSED: "refused", Exit.HALF_DONE: "half done"}.get(error.exit, "error")
    following = [f"  {bounded(error.next)}"] if error.next else []
    progress.say(f"{kind}: {bounded(error.what)}", *following)


def unexpected(error: Exception) -> int:
    """Reports a defect of ours, without a traceback that holds values, unless asked for."""
    if os.environ.get("RESHARDCTL_TRACEBACK"):
        raise error
    progress.say(
        f"error: unexpected {type(error).__name__}: {error}",
        "  this is a defect of reshardctl; RESHARDCTL_TRACEBACK=1 shows where",
    )
    return Exit.UNKNOWN


def too_long(error: OSError) -> UsageError:
    """A name that no file can have; whoever asks whether there is one learns it as an OSError."""
    return UsageError(f"{error.filename}: {error.strerror}", "give a shorter name")


def bounded(text: str) -> str:
    """Text without what is longer than any path: a value out of a file that holds anything."""
    return _LONG_WORD.sub(lambda word: f"{word[0][:_SHOWN]}… ({len(word[0])} characters)", text)
