"""A log in a file: readable by its owner only, locked while open, synced before writes."""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reshardctl.errors import UsageError, command_line
from reshardctl.journal.log import existing
from reshardctl.model.retry import FailureKind, Retry
from reshardctl.stores.given_file import content, refuse_larger
from reshardctl.stores.new_file import sync, write_all

_LIST = "reshardctl undo --list   # the journals of this machine"
_ANOTHER_PLACE = "name another location with --journal or RESHARDCTL_STATE_DIR"
GLANCES = (0.01, 0.05)
"""Seconds between attempts to lock: `undo --list` holds each lock for a moment."""


class FileLog:
    """See `Log`. The file is locked, for one process at a time."""

    def __init__(self, path: Path) -> None:
        """Touches nothing yet."""
        self.where = path
        self._descriptor = -1
        self._size = 0
        self._way = _ANOTHER_PLACE

    def create(self, content: bytes) -> None:
        """Creates the file, durably with its name, and the directory if it is missing."""
        path = self.where
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
            self._descriptor = _new(path, flags)
        except OSError as error:
            raise unwritable(path, error) from None
        try:
            _lock(path, self._descriptor)
            self.append(content, sync=True)
            sync(path.parent)
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError):
                raise unwritable(path, error) from None
            raise

    def open(self) -> bytes:
        """Locks and reads the file."""
        self._way = (
            "make it writable, or copy it and go on with the copy: "
            f"cp {shlex.quote(str(self.where))} DIRECTORY"
        )
        try:
            self._descriptor = os.open(self.where, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise unwritable(self.where, error, self._way) from None
        try:
            _check_regular(self.where, self._descriptor)
            _lock(self.where, self._descriptor)
            with os.fdopen(os.dup(self._descriptor), "rb") as file:
                file.seek(0)
                whole = file.read()
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise unwritable(self.where, error, self._way) from None
            raise
        self._size = len(whole)
        return whole

    def read(self) -> bytes:
        """All bytes of the file, whether or not another process has locked it.

        UsageError if it is absent, cannot be read or is too large.
        """
        try:
            return content(self.where, _LIST)
        except UsageError as error:
            raise UsageError(f"cannot read journal {error.what}", error.next) from None

    def append(self, content: bytes, *, sync: bool) -> None:
        """Writes at the end; a partial write is cut off again."""
        try:
            write_all(self._descriptor, content)
            if sync:
                os.fsync(self._descriptor)
        except OSError as error:
            with suppress(OSError):  # if that fails too, the last record is torn
                os.ftruncate(self._descriptor, self._size)
            raise unwritable(self.where, error, self._way) from None
        self._size += len(content)

    def cut(self, size: int) -> None:
        """Shortens the file."""
        try:
            os.ftruncate(self._descriptor, size)
            os.fsync(self._descriptor)
        except OSError as error:
            raise unwritable(self.where, error, self._way) from None
        self._size = size

    def discard(self) -> None:
        """Deletes the file."""
        self.close()
        self.where.unlink(missing_ok=True)

    def delete(self) -> None:
        """Deletes the opened file durably, unless another file has taken its name since."""
        try:
            opened, named = os.fstat(self._descriptor), self.where.stat()
            if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino):
                raise UsageError(
                    f"journal {self.where} was replaced; it was not deleted",
                    "reshardctl undo --list",
                )
            self.where.unlink()
            sync(self.where.parent)
        except FileNotFoundError:
            raise UsageError(
                f"journal {self.where} is not there any more", "reshardctl undo --list"
            ) from None
        except OSError as error:
            raise UsageError(
                f"cannot delete journal {self.where}: {error.strerror}",
                command_line("rm", str(self.where)),
            ) from None
        finally:
            self.close()

    def close(self) -> None:
        """Unlocks the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def in_use(path: Path) -> bool:
    """Whether a reshardctl on this machine has the journal open for writing."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def check_new(path: Path) -> None:
    """UsageError if the journal cannot be created for a reason that shows before any work."""
    if os.path.lexists(path):
        raise _existing(path)
    _check_nearest(path, path.absolute().parents)


def check_folder(folder: Path) -> None:
    """As `check_new`, for a journal that gets a name of its own in a folder."""
    _check_nearest(folder, (folder.absolute(), *folder.absolute().parents))


def _check_nearest(path: Path, folders: Sequence[Path]) -> None:
    """UsageError unless the first folder that exists can be written. path: for the message."""
    folder = next(each for each in folders if os.path.lexists(each))
    if not folder.is_dir():
        raise unwritable(path, NotADirectoryError(errno.ENOTDIR, f"{folder} is no directory"))
    if not os.access(folder, os.W_OK | os.X_OK):
        why = f"{folder}: {os.strerror(errno.EACCES)}"
        raise unwritable(path, PermissionError(errno.EACCES, why))


def unwritable(path: Path, error: OSError, way: str = _ANOTHER_PLACE) -> UsageError:
    """The error to raise when the disk does not accept a write. way: what to do then."""
    return UsageError(f"cannot write journal {path}: {error.strerror or error}", way)


def _new(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags, 0o600)
    except FileExistsError:
        raise _existing(path) from None


def _existing(path: Path) -> UsageError:
    if not path.is_file():  # a device or a link to nowhere: /dev/full has no end
        return existing(path, b"")
    try:
        return existing(path, content(path, _LIST))
    except UsageError:
        return existing(path, None)


def _check_regular(path: Path, descriptor: int) -> None:
    """UsageError for what keeps no bytes, or more than a journal has."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(
            f"journal {path} is no regular file, and it is written to", "name the file itself"
        )
    refuse_larger(f"journal {path}", status.st_size, _LIST)


def _lock(path: Path, descriptor: int) -> None:
    Retry(GLANCES, time.sleep, BlockingIOError, lambda _error: FailureKind.TRANSIENT).read(
        lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB),
        lambda _error: UsageError(
            f"journal {path} is in use by another reshardctl", "wait until that one has ended"
        ),
    )
