"""Undoes a fix as a whole if the text that it wrote into has become unreadable."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from reshardctl.errors import ReshardError, UndoRefused, UsageError
from reshardctl.execution.apply import half_done
from reshardctl.journal import Journal, Records
from reshardctl.model import Image, Step, after, keys_of
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import Store, Texts


def unreadable(
    store: Store, records: Records, name: str, *, wanted: bool
) -> Mapping[str, str]:
    """The texts of the fix that cannot be read, and why.

    name: of the journal. wanted: whether they are to be restored as a whole. UndoRefused if there
    are some and that is not wanted or not possible, UsageError if it is wanted and all can be read.
    """
    if records.undo is not None and records.undo.outcome == "undone":
        return {}
    keys = keys_of(records.header.steps)
    spoiled = store.unreadable(keys) if isinstance(store, Texts) else {}
    if wanted and not spoiled:
        raise UsageError(
            "--whole-file restores files that cannot be read, and all can; nothing was undone",
            f"reshardctl undo {shlex.quote(name)}",
        )
    why = "; ".join(spoiled.values())
    if spoiled and not spoiled.keys() <= records.fix.texts.keys():
        raise UndoRefused(
            f"{why}: the file was changed since the fix, and the journal does not hold its whole "
            "content from before; nothing was undone",
            "restore it from a backup, then see reshardctl inspect", tuple(sorted(keys)),
        )
    if spoiled and not wanted:
        raise UndoRefused(
            f"{why}: the file was changed since the fix; nothing was undone. The journal holds "
            f"its whole content from before the fix of {records.header.when}",
            f"reshardctl undo {shlex.quote(name)} --whole-file"
            "   # later changes to the file are lost",
            tuple(sorted(keys)),
        )
    return spoiled


@dataclass(frozen=True, slots=True)
class Whole:
    """Texts to restore. left: the rows as the fix left them."""

    store: Texts
    texts: Mapping[str, str]
    left: list[Image]
    words: str

    @classmethod
    def of(cls, store: Texts, records: Records, spoiled: Mapping[str, str]) -> Self:
        """The texts in a journal."""
        texts = {name: records.fix.texts[name] for name in spoiled}
        rows = [row for name, text in texts.items() for row in store.text_rows(name, text)]
        summary = (
            f"{', '.join(sorted(texts))}: restored to the whole content from before the fix of "
            f"{records.header.when}; later changes to it are lost"
        )
        return cls(store, texts, after(rows, records.fix.current), summary)

    def put_back(self, journal: Journal, records: Records, steps: Sequence[Step]) -> None:
        """Restores the texts, with the intents durable before.

        UndoRefused if one can be read again.
        """
        if records.undo is None:
            journal.begin_undo(steps)
        journal.intend(enumerate(steps))
        try:
            result = [self.store.restore(*text) for text in sorted(self.texts.items())]
        except ReshardError as error:
            raise half_done(journal, error.what) from error
        if WriteResult.CONFLICT in result:
            raise half_done(journal, "another process wrote the file meanwhile")
        for index, _ in enumerate(steps):
            journal.applied(index)
