"""Writes a journal: created once, appended to, durable before the writes that it guards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reshardctl.codec.values import step_json, text
from reshardctl.journal.file import FileLog
from reshardctl.journal.log import Log, Where
from reshardctl.journal.packed_texts import texts_body
from reshardctl.journal.records import (
    FIRST,
    Header,
    Intent,
    Records,
    header_body,
    intent_body,
    parsed,
    sealed,
    tokens,
)
from reshardctl.model import Step


class Journal:
    """An open journal; a context manager. One writer at a time.

    All methods that write raise what their `Log` raises when it does not take the record
    (UsageError, Refused, CannotTell); the journal then ends where it ended before.
    """

    def __init__(self, log: Log, header: Header, count: int = 0, chain: str = FIRST) -> None:
        """Use `create` or `open` instead."""
        self.undoing = False
        self.begun = False
        """Whether intents are recorded: from then on rows may be written."""
        self.header = header
        self._intended = False
        self._log = log
        self._waiting: list[tuple[str, dict[str, Any]]] = []
        self._count = count
        self._chain = chain

    @property
    def path(self) -> Where:
        """The place of the journal."""
        return self._log.where

    @classmethod
    def create(cls, location: Path | Log, header: Header) -> Self:
        """Creates a journal with its header, never over an existing one."""
        log = log_of(location)
        journal = cls(log, header)
        content, chain = journal._sealed([("header", header_body(header))])
        log.create(content)
        journal._count, journal._chain = 1, chain
        return journal

    @classmethod
    def open(cls, location: Path | Log) -> tuple[Self, Records]:
        """Opens an existing journal to continue it, without a torn last record.

        UsageError if it is damaged, in use or cannot be written.
        """
        log = log_of(location)
        content = log.open()
        try:
            records = parsed(content, log.where)
            if records.torn:
                log.cut(records.size)
        except BaseException:
            log.close()
            raise
        journal = cls(log, records.header, records.count, records.chain)
        journal.undoing = records.undo is not None
        journal.begun = bool(records.fix.intents) or journal.undoing
        return journal, records

    def intend(self, steps: Iterable[tuple[int, Step]]) -> list[Intent]:
        """Records the steps about to be written, with their indexes, durably.

        All in one go: a full disk then shows before the first write, not between two.
        """
        fresh = tokens(self._chain)
        intents = [Intent(index, step, next(fresh)) for index, step in steps]
        bodies = [("intent", intent_body(intent)) for intent in intents]
        self._append([*self._waiting, *bodies])
        self._waiting = []
        self.begun = self._intended = True
        return intents

    def keep(self, texts: Mapping[str, str]) -> None:
        """Records the whole texts that the rows are in, by name, with the first intents."""
        self._waiting.append(("texts", texts_body(texts)))

    def applied(self, index: int) -> None:
        """Records that a step is written, without waiting: the rows themselves tell it too."""
        self._append([("landed", {"step": index})], sync=False)

    def begin_undo(self, steps: Sequence[Step]) -> None:
        """Begins the undo of the fix by these steps.

        The record is written with their intents: an undo that is refused leaves no trace.
        """
        self._waiting = [("undo", {"steps": [step_json(step) for step in steps]})]
        self.undoing = True

    def verified(self) -> None:
        """Records that the store was read again and is as planned."""
        self._append([("verified", {"why": ""})])

    def failed(self, why: str) -> None:
        """Records that the run stopped, and why."""
        self._append([("failed", {"why": why})])

    def nothing_written(self, why: str) -> None:
        """Records that nothing intended since `create` or `open` is in place, nor will be.

        Does nothing if nothing was. why: the failure.
        """
        if self._intended:
            self._append([("nothing", {"why": why})])

    def undone(self) -> None:
        """Records that the whole fix is undone."""
        self._append([("undone", {"why": ""})])

    def discard(self) -> None:
        """Deletes a journal under which nothing was written. Only while `begun` is false."""
        assert not self.begun
        self._log.discard()

    def close(self) -> None:
        """Releases the journal."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _append(self, records: list[tuple[str, dict[str, Any]]], *, sync: bool = True) -> None:
        content, chain = self._sealed(records)
        self._log.append(content, sync=sync)
        self._count += len(records)
        self._chain = chain

    def _sealed(self, records: list[tuple[str, dict[str, Any]]]) -> tuple[bytes, str]:
        lines, chain = [], self._chain
        for number, (kind, body) in enumerate(records, start=self._count):
            record = text({"seq": number, "kind": kind, "body": body})
            line, chain = sealed(record.encode(), chain)
            lines.append(line)
        return b"".join(lines), chain


def log_of(location: Path | Log) -> Log:
    """The log itself, or the file at a path."""
    return FileLog(location) if isinstance(location, Path) else location
