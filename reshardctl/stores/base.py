"""What every medium offers. A medium knows rows and guards, and nothing of what rows mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from reshardctl.model import Image, Step
from reshardctl.model.write_state import WriteResult


class Store(Protocol):
    """Where a consumer keeps its rows. All methods raise CannotTell, UsageError or HalfDone."""

    max_writes: int
    """How many writes one step may have."""

    def identity(self) -> Mapping[str, str]:
        """What tells this store from every other (a table's ARN and creation time)."""

    def read(self) -> list[Image]:
        """Every row, in key order, consistent per row.

        A read that comes short raises CannotTell.
        """

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now, strongly consistent; `None` for an absent one."""

    def write(self, step: Step, token: str) -> WriteResult:
        """All writes of the step or none, each only if its row's guarded attributes are as in
        its `before` image (and an absent row still absent).

        token: the same for every attempt at this step, so that a repeat is recognised. An answer
        that was lost, and that reading could not replace, raises AnswerLost.
        """


@runtime_checkable
class Recovering(Protocol):
    """A medium in which a killed process of ours may leave something behind."""

    def recover(self) -> None:
        """Take away temporary files, and finish what belongs together and was written in part.

        Raises what `Store.write` raises. It changes nothing that a row says.
        """


@runtime_checkable
class Texts(Protocol):
    """A medium that keeps many rows in one text, which somebody may leave unreadable: no row of it
    can be put back then, but the whole text can."""

    def texts(self, keys: Collection[str]) -> Mapping[str, str]:
        """The texts that hold these rows, by a name that `restore` takes."""

    def unreadable(self, keys: Collection[str]) -> Mapping[str, str]:
        """Of the same texts those that cannot be read: what is to be said of each, by its name."""

    def text_rows(self, name: str, text: str) -> list[Image]:
        """The rows that a text of this name holds."""

    def restore(self, name: str, text: str) -> WriteResult:
        """The text in the place of one that cannot be read. MOVED where that can be read."""


def recover(medium: Store) -> None:
    """Clear up after a killed process, where the medium has anything of the kind."""
    if isinstance(medium, Recovering):
        medium.recover()
