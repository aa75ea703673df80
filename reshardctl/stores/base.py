"""What every store offers. A store knows rows and guards, but not what rows mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from reshardctl.model import Image, Step
from reshardctl.model.write_state import WriteResult


class Store(Protocol):
    """Where a consumer keeps its rows. All methods raise CannotTell, UsageError or HalfDone."""

    max_writes: int
    """The most writes that one step may have."""

    def identity(self) -> Mapping[str, str]:
        """What distinguishes this store from every other (a table's ARN and creation time).

        It survives maintenance of the store: a rebuilt table, a restart, another time zone.
        """

    def read(self) -> list[Image]:
        """Every row, in key order, consistent per row.

        An incomplete read raises CannotTell.
        """

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now, strongly consistent; `None` for an absent one."""

    def write(self, step: Step, token: str) -> WriteResult:
        """Makes all writes of the step or none.

        Each write needs its row's guarded attributes to be as in its `before` image (an absent row
        still absent). token: the same for every attempt at this step, so that a repeat is
        recognised. Raises AnswerLost if an answer was lost and reading did not tell the outcome.
        """


@runtime_checkable
class Recovering(Protocol):
    """A store in which a killed process of ours may leave something behind."""

    def recover(self) -> None:
        """Removes temporary files, and finishes a group of writes that was interrupted.

        Raises what `Store.write` raises. It changes nothing that a row means.
        """


@runtime_checkable
class Texts(Protocol):
    """A store that keeps many rows in one text.

    Another program may leave the text unreadable: no row of it can be restored then, but the whole
    text can.
    """

    def texts(self, keys: Collection[str]) -> Mapping[str, str]:
        """The texts that hold these rows, by a name that `restore` takes."""

    def unreadable(self, keys: Collection[str]) -> Mapping[str, str]:
        """The unreadable ones of these texts: the reason of each, by its name."""

    def text_rows(self, name: str, text: str) -> list[Image]:
        """The rows in a text of this name."""

    def restore(self, name: str, text: str) -> WriteResult:
        """Replaces an unreadable text. CONFLICT if the present one can be read."""


def recover(store: Store) -> None:
    """Clears up after a killed process, if the store has anything to clear."""
    if isinstance(store, Recovering):
        store.recover()
