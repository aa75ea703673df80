"""What every store offers: rows, and steps that are written only if their guards hold.

A store does not know what rows mean. Several stores can be joined into one; the prefix of a row's
key then tells which of them holds it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from reshardctl.model import Create, Image, Step, Write
from reshardctl.model.write_state import WriteResult, same


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
    """A store in which a killed process of ours may leave something."""

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
        """The rows that this text holds, which need not be the stored one of this name.

        An undo compares with them what restoring it brings back. UsageError if it cannot be read.
        """

    def restore(self, name: str, text: str) -> WriteResult:
        """Replaces an unreadable text. CONFLICT if the present one can be read."""


def recover(store: Store) -> None:
    """Clears up after a killed process, if the store has anything to clear."""
    if isinstance(store, Recovering):
        store.recover()


def checked(step: Step, at_most: int) -> tuple[Write, ...]:
    """The writes of a step. ValueError for a step that no plan may hold."""
    if not 1 <= len(step.writes) <= at_most:
        raise ValueError(f"a step of {len(step.writes)} writes; 1 to {at_most} are possible")
    if len({write.key for write in step.writes}) < len(step.writes):
        raise ValueError("a step that writes one row twice")
    for write in step.writes:
        if write.before is None and not isinstance(write.change, Create):
            raise ValueError(f"{write.key}: a row that was absent can only be created")
    return step.writes


def holds(write: Write, now: Image | None) -> bool:
    """Whether a row is as the write's guard wants it."""
    if isinstance(write.change, Create) or write.before is None:
        return now is None
    return now is not None and all(
        same(now.attributes.get(name), write.before.attributes.get(name)) for name in write.guard
    )


class Joined:
    """A main store, and others whose keys begin with a prefix of their own.

    No transaction spans two stores: one write per step.
    """

    max_writes = 1

    def __init__(self, main: Store, others: Mapping[str, Store]) -> None:
        """others: prefix of their keys → store. Calls nothing yet."""
        self._main, self._others = main, dict(others)

    def identity(self) -> Mapping[str, str]:
        """The identity of the main store, and those of the others under their prefixes."""
        identity = dict(self._main.identity())
        for prefix, store in self._others.items():
            identity |= {f"{prefix}{name}": value for name, value in store.identity().items()}
        return identity

    def read(self) -> list[Image]:
        """Every row of all of them, in key order. The main store is read first."""
        rows = [image for store in self._all() for image in store.read()]
        return sorted(rows, key=lambda image: image.key)

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        rows: dict[str, Image | None] = dict.fromkeys(keys)
        for store in self._all():
            own = [key for key in rows if self._of(key) is store]
            rows |= store.get(own) if own else {}
        return rows

    def write(self, step: Step, token: str) -> WriteResult:
        """Makes the one write of the step, in the store of its row."""
        (write,) = checked(step, self.max_writes)
        return self._of(write.key).write(step, token)

    def recover(self) -> None:
        """See `Recovering`."""
        for store in self._all():
            recover(store)

    def _all(self) -> tuple[Store, ...]:
        return (self._main, *self._others.values())

    def _of(self, key: str) -> Store:
        for prefix, store in self._others.items():
            if key.startswith(prefix):
                return store
        return self._main
