"""Turns every failure into one clear message and the right exit code.

Messages of the library that reads the command line read as ours. Standard streams may be closed, or
full.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from reshardctl.console import progress
from reshardctl.errors import Cancelled, CannotTell, ReshardError, UsageError
from reshardctl.exit import Exit

if TYPE_CHECKING:
    from typing_extensions import Buffer


_CHOICE = re.compile(r"'(?P<given>[^']*)' is not one of (?P<known>'[^']*'(?:, '[^']*')*)\.?\Z")
MEANT = {
    "--json": "--format json", "-y": "--yes", "-V": "--version", "--force": "",
    "--exit-zero": "--fail-on never",
}
"""Options of other tools, and what is typed for them here; nothing turns a safety check off."""


def of_command_line(error: Any) -> UsageError:
    """What the library that reads the command line refuses, in our words.

    error: with its message, its context if it has one, and of an unknown option that option's name.
    """
    from reshardctl.model.phrases import did_you_mean, similar

    message = bounded(error.format_message().rstrip("."))
    what = message[:1].lower() + message[1:]
    if getattr(error, "ctx", None) is None:
        return UsageError(what, "see --help")
    command, every = error.ctx.command, f"{error.ctx.command_path} --help lists all options"
    if hasattr(error, "possibilities"):
        name = error.option_name
        known = [
            typed for each in command.get_params(error.ctx) if each.param_type_name == "option"
            for typed in (*each.opts, *each.secondary_opts)
        ]
        meant = MEANT[name] if name in MEANT else similar(name, known) or ""
        near = f"did you mean {meant}? " if meant.partition(" ")[0] in known else ""
        return UsageError(f"there is no option {bounded(name)}", near + every)
    if match := _CHOICE.search(message):
        choices = re.findall(r"'([^']*)'", match["known"])
        return UsageError(what, did_you_mean(match["given"], choices, every))
    return UsageError(what, f"as in {command.example}" if command.example else every)


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
        return _told(error, speak)
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
        return _told(too_long(error), speak)
    show = getattr(error, "show", None)
    if show is None:
        code = unexpected(error)
        speak(ReshardError(f"unexpected {type(error).__name__}"))
        return code
    if type(error).__name__ == "NoArgsIsHelpError":
        show()
        return Exit.USAGE
    return _told(of_command_line(error), speak)


def _told(error: ReshardError, speak: Callable[[ReshardError], None]) -> int:
    say(error)
    speak(error)
    return error.exit


def cancelled(speak: Callable[[ReshardError], None]) -> None:
    """Reports an interrupt outside of writing: during it, signals wait for the step to end."""
    what = "cancelled; this command wrote nothing"
    progress.say(what)
    speak(Cancelled(what))


def say(error: ReshardError) -> None:
    """Prints what happened, and the next command: a line each, whatever is quoted in them."""
    kind = error.exit.kind
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
