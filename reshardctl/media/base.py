"""What every medium offers. A medium knows rows and guards, and nothing of what rows mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol, runtime_checkable

from reshardctl.model import Image, Step


class Landed(Enum):
    """How a guarded step ended."""

    DONE = "done"
    """All of its writes are in place."""
    MOVED = "moved"
    """A guard did not hold; nothing of the step was written."""


class Medium(Protocol):
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

    def write(self, step: Step, token: str) -> Landed:
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

        Raises what `Medium.write` raises. It changes nothing that a row says.
        """


def recover(medium: Medium) -> None:
    """Clear up after a killed process, where the medium has anything of the kind."""
    if isinstance(medium, Recovering):
        medium.recover()
