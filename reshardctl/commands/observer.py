"""What a use case tells its caller while it runs, and the one thing that it asks in between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reshardctl.commands.planned import Planned

Tasks = Callable[[], tuple[int, int] | None]
"""How many of how many tasks Spark has done of the stage that runs; `None` where none runs."""


class Observer:
    """Hears nothing and never interrupts; a subclass overrides what it wants to hear.

    Every method is called in the thread of the use case, but for those that count: several
    consumers are read in threads of their own.
    """

    def note(self, text: str) -> None:
        """Something that has to be said beside the result: a warning, or what was left out."""

    def phase(self, text: str, *, logged: bool = False) -> None:
        """What is being waited for. logged: whether a log should have it, too, not only a person
        who watches: the wait may take minutes."""

    def shards_listed(self, count: int) -> None:
        """So many shards of a stream are listed; a smaller number begins another listing."""

    def files_read(self, done: int, total: int) -> None:
        """So many files of a store are read, of so many."""

    def spark_works(self, text: str, tasks: Tasks) -> AbstractContextManager[None]:
        """A context in which Spark works. text: on what; tasks: asks Spark how far it is."""
        del text, tasks
        return nullcontext()

    def planned(self, planned: Planned) -> None:
        """What `fix` or `rebuild` would write is proven, and nothing is asked or written yet."""

    def writing(self) -> None:
        """Rows are written from now on: an interrupt should be kept for `interrupted` to tell."""

    def interrupted(self) -> bool:
        """Whether to stop before the next step is written."""
        return False


SILENT = Observer()
"""For callers that want to hear nothing."""
