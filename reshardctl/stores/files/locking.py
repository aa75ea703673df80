"""A lock that admits one reshardctl at a time to a directory."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reshardctl.errors import Refused

PATIENCE = 10.0
"""Seconds to wait for another process: a write takes milliseconds."""
_PAUSE = 0.02


@contextmanager
def alone(root: Path, name: str) -> Iterator[bool]:
    """Holds the directory's lock; False if the file system has none.

    The guards of each write hold without it. Refused if another process keeps the lock.
    """
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
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
