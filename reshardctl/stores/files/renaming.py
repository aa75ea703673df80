"""Two renames that Python's `os` does not have: exchange, and never over an existing file.

renameat2(2), Linux 3.15: RENAME_NOREPLACE fails over an existing name, RENAME_EXCHANGE swaps two
names atomically, so that what a write displaced can still be looked at. File systems without them
answer EINVAL; other systems have no such call.
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
