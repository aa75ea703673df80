"""A journal being written: made once, appended to, on disk before what it guards."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reshardctl import wire
from reshardctl.errors import UsageError
from reshardctl.journal.reading import FIRST, parsed, sealed
from reshardctl.journal.records import Header, Intent, Records, header_body, intent_body, tokens
from reshardctl.model import Step


class Journal:
    """An open journal; a context manager. One process at a time: the file is locked.

    All methods that write raise UsageError when the disk does not take the record; the file then
    ends where it ended before.
    """

    def __init__(self, path: Path, descriptor: int, count: int, size: int, chain: str) -> None:
        """For `create` and `open` only."""
        self.path = path
        self.undoing = False
        self._waiting: list[tuple[str, dict[str, Any]]] = []
        self._descriptor = descriptor
        self._count = count
        self._size = size
        self._chain = chain

    @classmethod
    def create(cls, path: Path, header: Header) -> Self:
        """A new journal, its header on disk. Never over an existing file.

        UsageError when the file exists, or when the directory or the disk refuses it.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise _unwritable(path, error) from None
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o600)
        except FileExistsError:
            raise UsageError(
                f"journal {path} exists already; nothing was written",
                "name another with --journal, or go on with it: reshardctl fix --resume "
                f"{path}",
            ) from None
        except OSError as error:
            raise _unwritable(path, error) from None
        journal = cls(path, descriptor, 0, 0, FIRST)
        try:
            _lock(path, descriptor)
            journal._append([("header", header_body(header))])
            _sync_directory(path)
        except BaseException as error:
            journal.close()
            path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise _unwritable(path, error) from None
            raise
        return journal

    @classmethod
    def open(cls, path: Path) -> tuple[Self, Records]:
        """An existing journal, to go on with. A torn last record is cut off: it guarded nothing.

        UsageError when it is damaged, in use or cannot be written.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise _unwritable(path, error) from None
        try:
            _lock(path, descriptor)
            with os.fdopen(os.dup(descriptor), "rb") as file:
                file.seek(0)
                records = parsed(file.read(), path)
            if records.torn:
                os.ftruncate(descriptor, records.size)
                os.fsync(descriptor)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, OSError):
                raise _unwritable(path, error) from None
            raise
        journal = cls(path, descriptor, records.count, records.size, records.chain)
        journal.undoing = records.undo is not None
        return journal, records

    def intend(self, steps: Iterable[tuple[int, Step]]) -> list[Intent]:
        """Record the steps about to be written, with their places, and wait for the disk.

        All in one go: a full disk then shows before the first write, not between two.
        """
        fresh = tokens(self._chain)
        intents = [Intent(index, step, next(fresh)) for index, step in steps]
        bodies = [("intent", intent_body(intent)) for intent in intents]
        self._append([*self._waiting, *bodies])
        self._waiting = []
        return intents

    def landed(self, index: int) -> None:
        """Record that a step is written. Not waited for: the rows themselves tell it again."""
        self._append([("landed", {"step": index})], sync=False)

    def begin_undo(self, steps: Sequence[Step]) -> None:
        """From here on the journal is about undoing the fix by these steps.

        The record goes to disk with their intents: an undo that is refused leaves no trace.
        """
        self._waiting = [("undo", {"steps": [wire.step_json(step) for step in steps]})]
        self.undoing = True

    def verified(self) -> None:
        """Record that the store was read again and is as planned."""
        self._append([("verified", {"why": ""})])

    def failed(self, why: str) -> None:
        """Record that it stopped, and why."""
        self._append([("failed", {"why": why})])

    def undone(self) -> None:
        """Record that the whole fix is undone."""
        self._append([("undone", {"why": ""})])

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

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
        lines, chain = [], self._chain
        for number, (kind, body) in enumerate(records, start=self._count):
            record = wire.text({"seq": number, "kind": kind, "body": body})
            line, chain = sealed(record.encode(), chain)
            lines.append(line)
        content = b"".join(lines)
        try:
            _write_all(self._descriptor, content)
            if sync:
                os.fsync(self._descriptor)
        except OSError as error:
            self._cut_back()
            raise _unwritable(self.path, error) from None
        self._count += len(records)
        self._size += len(content)
        self._chain = chain

    def _cut_back(self) -> None:
        """Drop a record that was written in part; if even that fails, it is a torn last one."""
        try:
            os.ftruncate(self._descriptor, self._size)
        except OSError:
            return


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        written = os.write(descriptor, view)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"journal {path} is in use by another reshardctl", "wait until that one has ended"
        ) from None


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"cannot write journal {path}: {error.strerror or error}",
        "name another place with --journal or RESHARDCTL_STATE_DIR",
    )
