"""What a use case tells its caller while it runs, and asks of it.

A caller also says from which severity on findings fail a command.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import TYPE_CHECKING

from reshardctl.diagnosis.rules import Severity

if TYPE_CHECKING:
    from reshardctl.commands.planned import Planned
    from reshardctl.kinesis.budget import Allowance
    from reshardctl.report.results import Elsewhere


Tasks = Callable[[], tuple[int, int] | None]
"""Tasks done and in all of Spark's current stage; `None` if none runs."""


class Observer:
    """Ignores everything and never interrupts; a subclass overrides what it needs.

    Every method is called in the thread of the use case, except those that count: several consumers
    are read in threads of their own.
    """

    def note(self, text: str) -> None:
        """Receives a remark beside the result: a warning, or what was left out."""

    def phase(self, text: str, *, logged: bool = False) -> None:
        """Receives what is being waited for.

        logged: whether a log should have it too, and not only a person who watches: the wait may
        take minutes.
        """

    def shards_listed(self, count: int) -> None:
        """Receives the number of shards listed; a smaller number begins another listing."""

    def rows_read(self, count: int) -> None:
        """Receives the number of a table's rows read; a smaller number begins another table."""

    def reading_shards(self, allowed: Allowance) -> None:
        """Receives what reading records may take, before the first is read."""

    def shards_read(self, done: int, total: int) -> None:
        """Receives of how many of how many shards the wanted records are read."""

    def files_read(self, done: int, total: int) -> None:
        """Receives how many of how many files of a store are read."""

    def spark_works(self, text: str, tasks: Tasks) -> AbstractContextManager[None]:
        """A context in which Spark works. text: on what; tasks: asks Spark for progress."""
        del text, tasks
        return nullcontext()

    def trusts(self, file: Elsewhere) -> bool:
        """Whether to go on with a journal or a plan that was not made here.

        It is asked before anything is called, and may raise NotConfirmed with words of its own. By
        default a program answers for the files that it names.
        """
        del file
        return True

    def planned(self, planned: Planned) -> None:
        """Receives what `fix` or `rebuild` would write, before anything is asked or written."""

    def writing(self) -> None:
        """Rows are written from now on: keep an interrupt for `interrupted`."""

    def interrupted(self) -> bool:
        """Whether to stop before the next step is written."""
        return False


SILENT = Observer()
"""For callers that need no messages."""


class FailOn(Enum):
    """What a request has in place of a severity."""

    AS_CONFIGURED = "as configured"
    """What reshardctl.toml says of the consumer, `Severity.ERROR` where it says nothing."""


Threshold = Severity | FailOn | None
"""A severity, or `None` for never."""
