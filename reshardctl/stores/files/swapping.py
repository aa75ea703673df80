"""Replaces contents by temporary file and rename, so that a kill leaves the old or the new.

The temporary file lies in the root and not beside its target: Spark's Kinesis connectors read every
file of a log folder (HDFSMetadataCommitter.get: listStatus of the batch's folder), and a temporary
file left there would crash the query. Nothing reads names in a checkpoint's root except `metadata`.

A file and its checksum are one unit. A note of what a process was changing them to names contents
by digest, so the next writer can tell which of the two contents is there, and which checksum
belongs to it. Checksums are short and are kept whole in the note.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import re
import shlex
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace as replaced

from reshardctl.errors import Refused
from reshardctl.stores.files.blobs import Blob, Moved, owner_of
from reshardctl.stores.files.system import (
    Ownership,
    Place,
    Unsettled,
    exchange,
    foreign,
    keep,
    keep_list,
    keep_none,
    place,
    user_of,
)
from reshardctl.stores.new_file import sync, write_all

PERMISSIONS = 0o777
"""What a file's mode may have: nothing that we write runs as somebody else."""
OF_FOLDERS = 0o3777
"""What a folder's may have: there the further bits keep the group of new files, and their names."""
_OURS = re.compile(r"\.reshardctl\.[0-9a-f-]{36}\.(tmp|note)\Z")


def ours(name: str) -> bool:
    """Whether a name is that of a temporary file or of a note of this tool."""
    return _OURS.match(name) is not None


def tidy(root: Path) -> None:
    """Removes what a killed process of ours left; while the lock is held nothing else needs it."""
    with suppress(OSError):
        for path in root.iterdir():
            if ours(path.name) and path.suffix == ".tmp":
                path.unlink()


def noted(root: Path, content: bytes) -> Path:
    """Writes a note to the root, whole and durable. OSError if it cannot."""
    temporary = _temporary(root)
    path = temporary.with_suffix(".note")
    try:
        _write(temporary, content, None, path)
        temporary.rename(path)
        _sync_names(root, root)
    except BaseException as error:
        _drop(temporary)
        _drop(path)
        if isinstance(error, Unsettled):  # only the note was written
            raise OSError(error.errno, error.strerror) from None
        raise
    return path


def notes(root: Path) -> list[Path]:
    """The notes of killed processes; while the lock is held no other process is writing.

    OSError if the root cannot be listed.
    """
    return sorted(path for path in root.iterdir() if ours(path.name))


def forgotten(note: Path) -> None:
    """Deletes a note that is no longer needed."""
    _drop(note)


def create(root: Path, path: Path, content: bytes, own: Place | None = None) -> None:
    """Creates a file. Raises Moved if the name exists, OSError while nothing is in place.

    own: whose the file and its folders are; by default it is like its siblings.
    """
    made: list[Path] = []
    temporary = _temporary(root)
    try:
        if own:
            _require_known(path, own)
        _folders(root, path.parent, made, own.folders if own else ())
        like = _sibling(path)
        mine = own.file if own else _unexecutable((like or path.parent).lstat())
        _write(temporary, content, mine, path, lambda new: keep_list(
            like or path.parent, new
        ))
        if not place(temporary, path):
            why = "no file can be made there without a race"
            raise OSError(errno.EOPNOTSUPP, why, str(path))
    except BaseException as error:
        _drop(temporary)
        _unmade(made)
        if isinstance(error, FileExistsError):
            raise Moved(path) from None
        raise
    _sync_names(path.parent, root)


def replace(root: Path, path: Path, content: bytes, was: bytes) -> None:
    """Replaces a file. Moved unless its content was `was`, OSError while that is in place."""
    temporary = _temporary(root)
    try:
        own = Ownership.of(path.lstat())
        _write(temporary, content, own, path, lambda new: keep(path, new))
        if not exchange(temporary, path):
            _compare(path, was)
            temporary.replace(path)
        elif temporary.read_bytes() != was:
            exchange(temporary, path)
            raise Moved(path)
    except FileNotFoundError:
        raise Moved(path) from None
    finally:
        _drop(temporary)
    _sync_names(path.parent, root)


def delete(root: Path, path: Path, was: bytes) -> None:
    """Deletes a file. Moved unless its content was `was`, OSError while that is in place."""
    aside = _temporary(root)
    try:
        _compare(path, was)
        path.rename(aside)
    except FileNotFoundError:
        raise Moved(path) from None
    try:
        _compare(aside, was)
    except (Moved, OSError):
        place(aside, path)
        raise
    _drop(aside)
    folder = path.parent
    with suppress(OSError):  # an object store has no empty folders
        while folder != root:
            folder.rmdir()
            folder = folder.parent
    _sync_names(folder, root)


def _temporary(root: Path) -> Path:
    return root / f".reshardctl.{uuid4()}.tmp"


def _write(
    temporary: Path, content: bytes, own: Ownership | None, path: Path,
    furnish: Callable[[int], None] = keep_none,
) -> None:
    """Writes a temporary file, durably, with this owner and mode.

    furnish: gives the opened file what else it has, before it is somebody else's.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o600)
    try:
        furnish(descriptor)
        if own is not None:
            _owned(descriptor, own, path)
            os.fchmod(descriptor, own.mode & PERMISSIONS)
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _owned(descriptor: int, own: Ownership, path: Path) -> None:
    mine, (user, group) = os.fstat(descriptor), own.ids
    if (mine.st_uid, mine.st_gid) == (user, group):
        return
    try:
        os.fchown(descriptor, user, group)
    except PermissionError:
        if mine.st_uid != user:
            raise foreign(str(path), user_of(user)) from None


def _require_known(path: Path, own: Place) -> None:
    """Refused unless the users and groups own the nearest folder that exists, or files in it.

    They come from a journal, which may come from elsewhere. This process' own are always allowed.
    """
    folder, made = path.parent, 0
    while not folder.is_dir():
        folder, made = folder.parent, made + 1
    there = [folder.stat(), *(other.lstat() for other in folder.iterdir() if not ours(other.name))]
    users = {os.geteuid(), *(status.st_uid for status in there)}
    groups = {os.getegid(), *os.getgroups(), *(status.st_gid for status in there)}
    for user, group in (each.ids for each in (own.file, *own.folders[:made])):
        if user not in users or group not in groups:
            raise Refused(
                f"cannot write {path}: by the journal it is to belong to {user}:{group}, to whom "
                f"nothing in {folder} does",
                f"see whose the checkpoint is: ls -ln {shlex.quote(str(folder))}",
            )


def _sibling(path: Path) -> Path | None:
    """Another file of the folder, whose owner, mode and list a new one gets; `None` for none.

    A checksum is like the file that it belongs to.
    """
    def order(sibling: Path) -> tuple[bool, bool, str]:
        name = sibling.name
        return name != owner_of(path.name), name.startswith("."), name

    for sibling in sorted(path.parent.iterdir(), key=order):
        status = sibling.lstat()
        if stat.S_ISREG(status.st_mode) and not ours(sibling.name):
            return sibling
    return None


def _unexecutable(status: os.stat_result) -> Ownership:
    like = Ownership.of(status)
    return replaced(like, mode=like.mode & 0o666)


def _folders(root: Path, folder: Path, made: list[Path], owns: Sequence[Ownership]) -> None:
    """Makes the missing folders. made: receives them, innermost first.

    owns: whose they are, innermost first; without it, each is like its parent.
    """
    if folder == root or folder.is_dir():
        return
    _folders(root, folder.parent, made, owns[1:])
    own = owns[0] if owns else Ownership.of(folder.parent.stat())
    folder.mkdir(0o700)
    made.insert(0, folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        keep_list(folder.parent, descriptor)
        _owned(descriptor, own, folder)
        os.fchmod(descriptor, own.mode & OF_FOLDERS)
    finally:
        os.close(descriptor)


def _unmade(folders: list[Path]) -> None:
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _compare(path: Path, was: bytes) -> None:
    if path.read_bytes() != was:
        raise Moved(path)


def _drop(temporary: Path) -> None:
    with suppress(OSError):
        temporary.unlink()


def _sync_names(folder: Path, root: Path) -> None:
    """Syncs the names in the folder and in those above it up to the root."""
    try:
        sync(folder)
        while folder != root:
            folder = folder.parent
            sync(folder)
    except OSError as error:
        raise Unsettled(error.errno, error.strerror) from None


_FORMAT = 1
_SIDES = ("before", "after")


class Unit(Struct, frozen=True):
    """A file and its checksum, before and after the change.

    Each side: the digest of the content, `None` for no file; and the checksum beside it, `None` for
    none.
    """

    key: str
    before: tuple[str | None, bytes | None]
    after: tuple[str | None, bytes | None]

    @classmethod
    def of(
        cls, key: str, file: Blob | None, crc: Blob | None,
        content: bytes | None, checksum: bytes | None,
    ) -> Unit:
        """The unit of a file and a checksum, as they were read and as they will be."""
        return cls(
            key, (_digest(file.content if file else None), crc.content if crc else None),
            (_digest(content), checksum),
        )

    def text(self) -> bytes:
        """The unit as a note."""
        sides = {
            name: [digest, None if crc is None else base64.b64encode(crc).decode()]
            for name, (digest, crc) in zip(_SIDES, (self.before, self.after), strict=True)
        }
        return json.dumps({"format": _FORMAT, "key": self.key, **sides}).encode()

    @classmethod
    def read(cls, note: bytes) -> Unit | None:
        """The unit of a note; `None` for a text that is none, or of another release."""
        try:
            members: dict[str, Any] = json.loads(note)
            if members["format"] != _FORMAT:
                return None
            before, after = (
                (digest, None if crc is None else base64.b64decode(crc))
                for digest, crc in (members[name] for name in _SIDES)
            )
            return cls(str(members["key"]), before, after)
        except (ValueError, KeyError, TypeError):
            return None

    def checksum(self, file: Blob | None, crc: Blob | None) -> tuple[bool, bytes | None]:
        """Whether the checksum of the present content is known, and which it is.

        It is unknown if another program has written one of the two since.
        """
        digest = _digest(file.content if file else None)
        there = crc.content if crc else None
        if there is not None and there not in (self.before[1], self.after[1]):
            return False, None
        for side in (self.after, self.before):
            if side[0] == digest:
                return True, side[1]
        return False, None


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()
