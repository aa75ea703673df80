"""Makes durable what was written or renamed."""

from __future__ import annotations

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Syncs a file, or the names in a folder, to disk. OSError if the system cannot."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
