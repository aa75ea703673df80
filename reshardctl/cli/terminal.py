"""Shows on stderr what a use case tells, asks, and delays signals while rows are written.

If the report of what was written fails, what was written is said all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from shutil import get_terminal_size
from textwrap import wrap
from types import TracebackType
from typing import TYPE_CHECKING, Self

from reshardctl.commands.observer import FailOn as Usual
from reshardctl.commands.observer import Observer, Tasks, Threshold
from reshardctl.console import interrupt, progress
from reshardctl.console.destinations import FailOn
from reshardctl.console.failures import PipeClosed, drop_stdout, stdout_failure
from reshardctl.diagnosis.rules import Severity
from reshardctl.errors import HalfDone, NotConfirmed, ReshardError, command_line
from reshardctl.model.times import duration
from reshardctl.render.escape import escape

if TYPE_CHECKING:
    from reshardctl.kinesis.budget import Allowance
    from reshardctl.report.results import Elsewhere

AGREED = "Only 'yes' is taken for a yes: "
QUESTION = "Write this?"
TRUST = "Connect to this store and go on?"


class Terminal(Observer):
    """Shows progress at a terminal, and notes everywhere.

    As a context: SIGTERM and SIGHUP end a command as Ctrl-C does, and from `writing` to the end of
    the context all three only ask to stop after the current step; then they are ignored.
    """

    def __init__(self, *, yes: bool = False) -> None:
        """yes: whether nobody is asked."""
        self._yes = yes
        self._listing = progress.counter("shards listed")
        self._rows = progress.counter("rows read")
        self._files = progress.counter("files read")
        self._shards = progress.counter("shards read")
        self._writes = False
        progress.name_who_is_silent()

    def __enter__(self) -> Self:
        interrupt.end_as_by_ctrl_c()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._writes:  # a second signal would hide the outcome
            interrupt.ignore_signals()

    def note(self, text: str) -> None:
        """Prints a remark."""
        progress.note(text)

    def phase(self, text: str, *, logged: bool = False) -> None:
        """Shows what is being waited for, and prints it to a log if `logged`."""
        if logged and not sys.stderr.isatty():
            progress.note(text)
        else:
            progress.phase(text)

    def shards_listed(self, count: int) -> None:
        """Shows the number of shards listed."""
        self._listing(count)

    def files_read(self, done: int, total: int) -> None:
        """Shows the number of files read."""
        self._files(done, total)

    def rows_read(self, count: int) -> None:
        """Shows the number of rows read."""
        self._rows(count)

    def reading_shards(self, allowed: Allowance) -> None:
        """Says what reading records may take; in a log only if that is more than usual."""
        from reshardctl.kinesis.budget import USUAL_CALLS, USUAL_SECONDS

        limit = f"at most {allowed.calls:,} calls in {duration(allowed.seconds)}"
        shards = f"{allowed.shards:,} shard{'' if allowed.shards == 1 else 's'}"
        self.phase(
            f"reading records of {shards}: {limit} (--probe-budget)",
            logged=allowed.calls > USUAL_CALLS or allowed.seconds > USUAL_SECONDS,
        )

    def shards_read(self, done: int, total: int) -> None:
        """Shows of how many shards the records are read."""
        self._shards(done, total)

    def spark_works(self, text: str, tasks: Tasks) -> AbstractContextManager[None]:
        """Shows Spark's progress while the context lasts."""
        from reshardctl.console.spark_progress import alive

        return alive(text, tasks)

    def trusts(self, file: Elsewhere) -> bool:
        """Shows what the file would write, and where, and asks. NotConfirmed without a terminal."""
        from reshardctl.render.content.writes import elsewhere_lines
        from reshardctl.render.context import Context

        lines = elsewhere_lines(file, Context())
        if self._yes:
            for line in lines:
                progress.note(line)
            return True
        progress.say(*lines)
        return ask(file.accepting, shown=True, question=TRUST)

    def writing(self) -> None:
        """Delays signals from now on, until the current step is finished."""
        self._writes = True
        interrupt.finish_the_step()

    def interrupted(self) -> bool:
        """Whether a signal has come since."""
        return interrupt.interrupted()


def severity(fail_on: FailOn) -> Severity | None:
    """The severity from which a command fails; `None` for never."""
    return None if fail_on is FailOn.NEVER else Severity[fail_on.name]


def threshold(fail_on: FailOn | None) -> Threshold:
    """The same for consumers that reshardctl.toml may name; `None` if the option is not given."""
    return Usual.AS_CONFIGURED if fail_on is None else severity(fail_on)


def ask(accepting: str, *, shown: bool, price: str = "", question: str = QUESTION) -> bool:
    """Asks at the terminal. NotConfirmed without one, and if nothing was shown.

    accepting: the command that needs no answer. price: printed before the question.
    """
    costs = f". {price} This accepts it:" if price else ""
    if not shown:
        raise NotConfirmed(
            f"nothing here shows the plan that would be confirmed{costs}", accepting
        )
    if not at_terminal():
        piped = "stdout is no terminal, so nobody is asked"
        nobody = piped if sys.stdin.isatty() else "there is no terminal to ask at"
        raise NotConfirmed(f"{nobody}{costs}", accepting)
    try:
        progress.clear()
        asked = escape(f"{price} {question} {AGREED}".strip())
        room = max(get_terminal_size().columns - 1, 1)
        *lines, last = wrap(asked, room, break_long_words=False)
        for line in lines:
            print(line)
        answer = input(f"{last} ")
    except EOFError:
        answer = ""
    return answer.strip() == "yes"


def at_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


TRIES = 3
"""Answers that are no number of the list before nothing is chosen."""


def which(most: int) -> int | None:
    """Asks for a number from 1 on; `None` if none is given."""
    progress.clear()
    for _ in range(TRIES):
        try:
            answer = input(f"Which one? 1 to {most}, or Enter for none: ").strip()
        except EOFError:
            return None
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= most:
            return int(answer)
        progress.say(f"{answer} is no number from 1 to {most}")
    return None


FIXED = "the rows are written"
UNDONE = "the rows are put back"


@contextmanager
def after_writing(done: str, journals: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """A context that writes the report. HalfDone, naming the journals, if that fails.

    The code of the failure itself says that nothing was written. done: FIXED or UNDONE. journals:
    none if nothing was written; each with the options that its undo needs.
    """
    try:
        yield
    except Exception as error:
        if not journals:
            raise
        what = f"{done}, but not the report: {_why(error)}"
        raise HalfDone(what, _ways(done, journals), next(iter(journals))) from error


def _ways(done: str, journals: Mapping[str, Sequence[str]]) -> str:
    """What shows what was written, and what puts it back, one command for each journal."""
    show = "; ".join(command_line("reshardctl", "undo", "--show", name) for name in journals)
    back = "; ".join(
        command_line("reshardctl", "undo", name, *options) for name, options in journals.items()
    )
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
