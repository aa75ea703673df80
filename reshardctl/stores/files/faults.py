"""Errors of the operating system, in words for an operator."""

from __future__ import annotations

import errno
import pwd
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reshardctl.errors import AnswerLost, CannotTell, Refused


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
            "look at the disk, then run reshardctl inspect",
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
