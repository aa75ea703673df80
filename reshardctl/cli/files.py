"""Files that a command writes: whole or not at all, and the owner's alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from reshardctl.errors import UsageError


def check_file(path: Path) -> None:
    """UsageError unless `replace_file` will work: to be found out before anything is written."""
    if path.is_dir():
        raise UsageError(f"{path}: is a directory", "name a file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "name another file") from None


def replace_file(path: Path, text: str) -> None:
    """Write a file whole or not at all, readable by its owner only."""
    name = ""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise UsageError(f"{path}: {error.strerror}", "name another file") from None
