"""What else a file has on disk: its access control list, and a program's own attributes.

On Linux both are extended attributes (acl(5), xattr(7)). A new content comes as another file, made
in another folder, so they are put on it before it takes its name: without the list, a user who may
read the checkpoint by it alone could not any more. A system without them has none to keep.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

ACL, OF_NEW = "system.posix_acl_access", "system.posix_acl_default"
"""A file's own list, and that of a folder for files that are made in it."""
_BY_THE_KERNEL = frozenset({"security.ima", "security.evm"})
"""Hashes that the kernel makes of each content."""
_WITHOUT = {errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENODATA}


def keep(old: Path, new: int) -> None:
    """Gives a new file all that the old one has. OSError where that is not allowed."""
    wanted, now = _all(old), _all(new)
    for name in now.keys() - wanted.keys():
        if name == ACL:
            os.removexattr(new, name)
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
        if error.errno in _WITHOUT:
            return {}
        raise


def _put(new: int, name: str, value: bytes, old: Path) -> None:
    try:
        os.setxattr(new, name, value)
    except OSError as error:
        why = f"its attribute {name} cannot be kept: {error.strerror}"
        raise OSError(error.errno, why, str(old)) from None
