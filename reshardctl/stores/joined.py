"""Several stores as one; the prefix of a row's key tells which of them holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reshardctl.model import Image, Step
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import Store, recover


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
        if len(step.writes) != 1:
            raise ValueError(f"a step of {len(step.writes)} writes; 1 is possible")
        return self._of(step.writes[0].key).write(step, token)

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
