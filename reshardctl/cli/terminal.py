"""Shows on stderr what a use case tells, and delays signals while rows are written."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from reshardctl.commands.observer import FailOn as Usual
from reshardctl.commands.observer import Observer, Tasks, Threshold
from reshardctl.console import interrupt, progress
from reshardctl.console.destinations import FailOn
from reshardctl.diagnosis.rules import Severity
from reshardctl.model.times import duration

if TYPE_CHECKING:
    from reshardctl.kinesis.budget import Allowance
    from reshardctl.report.results import Elsewhere


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
        from reshardctl.cli.consent import TRUST, ask
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
