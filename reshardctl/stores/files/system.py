"""What `os` does not do for files: whose they are, what else they carry, locks, safe renames.

Errors of the operating system are put into words for an operator.

Renames: renameat2(2), Linux 3.15. RENAME_NOREPLACE fails over an existing name, RENAME_EXCHANGE
swaps two names atomically, so that what a write displaced can still be looked at. File systems
without them answer EINVAL; other systems have no such call.

Attributes: an access control list and a program's own attributes are extended attributes on Linux
(acl(5), xattr(7)). A new content comes as another file, made in another folder, so they are put on
it before it takes its name: without the list, a user who may read the checkpoint by it alone could
not any more. A system without them has none to keep.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import pwd
import re
import shlex
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from msgspec import Struct

from reshardctl.errors import INSPECT, AnswerLost, CannotTell, Refused
from reshardctl.stores.files.blobs import Kept


class Unsettled(OSError):
    """The write is in place, but the disk does not confirm that it is durable."""


_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
_READ_ONLY = {errno.EROFS: "the file system is read-only"}
_DENIED = {errno.EACCES, errno.EPERM}


def unreadable(name: str, error: OSError, path: str = "") -> CannotTell:
    """CannotTell for a failed read, naming the user to run as if permission is missing."""
    if error.errno in _DENIED:
        return CannotTell(f"cannot read {name}: {_words(error)}", f"run this as {_owner(path)}")
    look = f"ls -ld {shlex.quote(path or name)}"
    return CannotTell(f"cannot read {name}: {_words(error)}", look)


@contextmanager
def unwritable(name: str) -> Iterator[None]:
    """Raises errors of a write as Refused, because none of it is in place then."""
    try:
        yield
    except Unsettled as error:
        raise AnswerLost(
            f"wrote {name}, but cannot say whether it will stay: {_words(error)}",
            f"look at the disk, then {INSPECT}",
        ) from None
    except OSError as error:
        code = error.errno or 0
        why = {**_FULL, **_READ_ONLY}.get(code) or _words(error)
        what = f"cannot write {name}: {why}"
        if code in _FULL:
            raise Refused(what, "make room, then run this again") from None
        if code in _DENIED:
            owner = _owner(str(error.filename or ""))
            raise Refused(what, f"run this as {owner}") from None
        if code in _READ_ONLY:
            raise Refused(what, "mount it for writing, then run this again") from None
        path = str(error.filename or name)
        raise Refused(what, f"look at the disk: df {shlex.quote(path)}") from None


def _words(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def _owner(path: str) -> str:
    """The user who has permission, as far as that is known."""
    try:
        return f"user {Path(path).owner()}" if path else "the user whose files they are"
    except (OSError, KeyError, NotImplementedError):
        return "the user whose files they are"


def foreign(name: str, owner: str, superuser: str = "root") -> Refused:
    """The error for a new file that would belong to us and lock its readers out.

    name: the file's. owner: whom its neighbours belong to. superuser: who could give it to them.
    """
    return Refused(
        f"cannot write {name}: the files there belong to {owner}, and a new one would not",
        f"run this as {owner}, or as {superuser}",
    )


def user_of(number: int) -> str:
    """A user of this machine, in words."""
    try:
        return f"user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"user id {number}"


_MODE = re.compile(r"[0-7]{4}")
_OWNER = re.compile(r"[^:]+:[^:]*")
_IDS = re.compile(r"\d+:\d+", re.ASCII)


class Ownership(Struct, frozen=True):
    """Mode, user and group of a file or a folder: ids on this machine, names on HDFS."""

    mode: int
    user: str
    group: str

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """That of an existing file of this machine."""
        return cls(stat.S_IMODE(status.st_mode), str(status.st_uid), str(status.st_gid))

    @classmethod
    def read(cls, key: str, kept: Kept) -> Self:
        """Reads what `kept` gave. ValueError for anything else."""
        mode, owner = str(kept.get("mode")), str(kept.get("owner"))
        if not _MODE.fullmatch(mode) or not _OWNER.fullmatch(owner):
            raise ValueError(f"{key}: {dict(kept)} is no mode and owner")
        user, _, group = owner.partition(":")
        return cls(int(mode, 8), user, group)

    @property
    def ids(self) -> tuple[int, int]:
        """User and group of this machine. ValueError for names."""
        if not _IDS.fullmatch(f"{self.user}:{self.group}"):
            raise ValueError(f"{self.user}:{self.group} are no ids of a user and a group")
        return int(self.user), int(self.group)

    @property
    def kept(self) -> Kept:
        """As `chmod` and `chown` take it."""
        return {"mode": f"{self.mode:04o}", "owner": f"{self.user}:{self.group}"}


class Place(Struct, frozen=True):
    """Whose a file is, and the folders that go when it is the last one in them.

    folders: innermost first, up to the root and without it; () if each is like the one above it.
    """

    file: Ownership
    folders: tuple[Ownership, ...] = ()

    @classmethod
    def read(cls, key: str, kept: Kept) -> Self:
        """Reads what `kept` gave. ValueError for anything else."""
        file = Ownership.read(key, kept)
        if "folders" not in kept:
            return cls(file)
        found: Any = kept["folders"]
        each = found if isinstance(found, list) else []
        if len(each) != key.count("/") or not all(isinstance(one, dict) for one in each):
            raise ValueError(f"{key}: {found} are not its folders")
        return cls(file, tuple(Ownership.read(key, folder) for folder in each))

    @property
    def kept(self) -> Kept:
        """As JSON."""
        folders = {"folders": [dict(folder.kept) for folder in self.folders]}
        return {**self.file.kept, **(folders if self.folders else {})}


def unlike(folders: Sequence[Ownership]) -> tuple[Ownership, ...]:
    """Folders without the last of them, the root; none if each is like the one above it."""
    return tuple(folders[:-1]) if len(set(folders)) > 1 else ()


def folders_of(root: Path, folder: Path) -> tuple[Ownership, ...]:
    """The folders of a file of this machine, as `Place` has them; none if one has gone."""
    above = [folder, *folder.parents]
    with suppress(OSError, ValueError):
        within = above[: above.index(root) + 1]
        return unlike([Ownership.of(each.stat()) for each in within])
    return ()


PATIENCE = 10.0
"""Seconds to wait for another process: a write takes milliseconds."""
_PAUSE = 0.02


@contextmanager
def alone(root: Path, name: str) -> Iterator[bool]:
    """Holds the directory's lock; False if the file system has none.

    The guards of each write hold without it. Refused if another process keeps the lock.
    """
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield False
        return
    try:
        yield _locked(descriptor, name)
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _locked(descriptor: int, name: str) -> bool:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > until:
                raise Refused(
                    f"another reshardctl writes in {name}; nothing was written",
                    "wait until that one has ended",
                ) from None
        except OSError:
            return False
        time.sleep(_PAUSE)


_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
_WITHOUT = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP}


def exchange(first: Path, second: Path) -> bool:
    """Swaps two existing names. False if the system cannot; OSError as a rename raises it."""
    return _renameat2(first, second, _EXCHANGE)


def place(new: Path, name: Path) -> bool:
    """Gives a file its name, unless that exists (FileExistsError). False if the system cannot.

    Without such a rename it uses a hard link.
    """
    if _renameat2(new, name, _NOREPLACE):
        return True
    try:
        name.hardlink_to(new)
    except OSError as error:
        if error.errno in {errno.EPERM, *_WITHOUT}:
            return False
        raise
    with suppress(OSError):  # the next write removes the other name
        new.unlink()
    return True


def _renameat2(first: Path, second: Path, flags: int) -> bool:
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), flags) == 0:
        return True
    code = ctypes.get_errno()
    if code in _WITHOUT:
        return False
    raise OSError(code, os.strerror(code), str(first), None, str(second))


ACL, OF_NEW = "system.posix_acl_access", "system.posix_acl_default"
"""A file's own list, and that of a folder for files that are made in it."""
_BY_THE_KERNEL = frozenset({"security.ima", "security.evm"})
"""Hashes that the kernel makes of each content."""
_NO_ATTRIBUTES = {errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENODATA}


def keep(old: Path, new: int) -> None:
    """Gives a new file all that the old one has. OSError where that is not allowed."""
    wanted, now = _all(old), _all(new)
    if ACL in now and ACL not in wanted:
        os.removexattr(new, ACL)
    for name, value in wanted.items():
        if now.get(name) != value and name not in _BY_THE_KERNEL:
            _put(new, name, value, old)


def keep_list(like: Path, new: int) -> None:
    """Gives a new file or folder the access control list of another one, or of a new one in it.

    like: another file of its folder, or the folder that it is made in.
    """
    made_in = like.is_dir() and not stat.S_ISDIR(os.fstat(new).st_mode)
    wanted = _all(like).get(OF_NEW if made_in else ACL)
    if wanted is not None:
        _put(new, ACL, wanted, like)
    elif made_in or not like.is_dir():
        keep_none(new)


def keep_none(new: int) -> None:
    """Takes off the list that a file has from the folder that it was made in."""
    if ACL in _all(new):
        os.removexattr(new, ACL)


def _all(file: Path | int) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = os.listxattr(file)
        return {name: os.getxattr(file, name) for name in names}
    except OSError as error:
        if error.errno in _NO_ATTRIBUTES:
            return {}
        raise


def _put(new: int, name: str, value: bytes, old: Path) -> None:
    try:
        os.setxattr(new, name, value)
    except OSError as error:
        why = f"its attribute {name} cannot be kept: {error.strerror}"
        raise OSError(error.errno, why, str(old)) from None
