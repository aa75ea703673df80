"""Two renames that Python's `os` does not have: exchange, and never over something.

renameat2(2), Linux 3.15: RENAME_NOREPLACE fails over an existing name, RENAME_EXCHANGE swaps two
names in one go, so that what a write displaced can still be looked at. File systems that have
neither answer EINVAL; other systems have no such call.
"""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress
from pathlib import Path

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
_WITHOUT = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP}


def exchange(one: Path, other: Path) -> bool:
    """Swap two existing names. False where that cannot be had; OSError as a rename raises it."""
    return _renameat2(one, other, _EXCHANGE)


def place(new: Path, name: Path) -> bool:
    """Give a file its name, unless that is taken (FileExistsError). False where it cannot be had.

    By a hard link where there is no such rename.
    """
    if _renameat2(new, name, _NOREPLACE):
        return True
    try:
        name.hardlink_to(new)
    except OSError as error:
        if error.errno in {errno.EPERM, *_WITHOUT}:
            return False
        raise
    with suppress(OSError):  # in place it is; the other name is removed by the next write
        new.unlink()
    return True


def _renameat2(one: Path, other: Path, flags: int) -> bool:
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), flags) == 0:
        return True
    code = ctypes.get_errno()
    if code in _WITHOUT:
        return False
    raise OSError(code, os.strerror(code), str(one), None, str(other))
