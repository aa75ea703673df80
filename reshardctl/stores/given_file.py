"""Reads files that the operator names: plans, journals, snapshots, reports, positions, TOML.

A pipe gives its bytes once, as bash's `<(…)` and /dev/stdin do, and a command may look at a file
more than once. So the bytes of a pipe are kept.
"""

from __future__ import annotations

import stat
import threading
from pathlib import Path
from typing import BinaryIO

from reshardctl.errors import UsageError

LARGEST = 1 << 30
"""Bytes of the largest file that is read, as of a store's files."""
_PIECE = 1 << 20
_kept: dict[tuple[str, int, int], bytes] = {}
_reading = threading.Lock()


def content(path: Path, way_out: str, most: int | None = None) -> bytes:
    """The bytes of a file, pipe or device.

    Args:
        path: As the operator names it.
        way_out: What to do if it cannot be read.
        most: The most bytes that it may have, if fewer than LARGEST.

    Raises:
        UsageError: It cannot be read, or is too large.
    """
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            return _read(path, way_out, most or LARGEST, status.st_size)
        key = (str(path), status.st_dev, status.st_ino)
        with _reading:
            if key not in _kept:
                _kept[key] = _read(path, way_out, most or LARGEST)
            return _kept[key]
    except OSError as error:
        if str(path) == "-":
            way_out = "for standard input: /dev/stdin"
        raise UsageError(f"{path}: {error.strerror}", way_out) from None


def refuse_larger(name: str, size: int, way_out: str, most: int | None = None) -> None:
    """UsageError for a file of more bytes than may be read."""
    if size > (most or LARGEST):
        raise UsageError(f"{name}: larger than {most or LARGEST:,} bytes", way_out)


def _read(path: Path, way_out: str, most: int, size: int = 0) -> bytes:
    """All bytes. size: as the system tells it, 0 if it does not; only reading shows it then."""
    refuse_larger(str(path), size, way_out, most)
    with path.open("rb") as file:
        found = _up_to(most + 1, file)
    refuse_larger(str(path), len(found), way_out, most)
    return bytes(found)


def _up_to(most: int, file: BinaryIO) -> bytearray:
    found = bytearray()
    while len(found) < most and (piece := file.read(_PIECE)):
        found += piece
    return found
