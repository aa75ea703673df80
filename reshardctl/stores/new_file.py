"""A new file that appears whole or not at all, readable by its owner only, and is durable then.

It is written without a name (O_TMPFILE, Linux 3.11) and gets its name when it is on disk: a process
that is killed leaves nothing. On systems without such files, it has another name first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from reshardctl.errors import UsageError


def sync(path: Path) -> None:
    """Syncs a file, or the names in a folder, to disk. OSError if the system cannot."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """Writes all bytes to an open file, however few of them the system takes at once."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def create_whole(path: Path, texts: Iterable[str]) -> None:
    """Writes a new file, never over another. OSError (FileExistsError too) if there is none."""
    descriptor, name = _opened(path)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines(texts)
            file.flush()
            os.fsync(file.fileno())
            _named(name or f"/proc/self/fd/{file.fileno()}", path)
    finally:
        if name:
            Path(name).unlink(missing_ok=True)
    with suppress(OSError):  # not every folder can be synced
        sync(path.parent)


def save_new(path: Path, texts: Iterable[str], unsaved: str, option: str) -> None:
    """As `create_whole`, but UsageError if there is none.

    unsaved: the words `no plan was saved`. option: the one that names the file.
    """
    try:
        create_whole(path, texts)
    except OSError as error:
        why = " exists already" if isinstance(error, FileExistsError) else f": {error.strerror}"
        raise UsageError(f"{path}{why}; {unsaved}", f"name another file with {option}") from None


def _opened(path: Path) -> tuple[int, str]:
    """A new file beside the path, and its name, "" for none."""
    descriptor = open_unnamed(path.parent, 0o600)
    if descriptor is not None:
        return descriptor, ""
    import tempfile

    return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")


def open_unnamed(folder: Path, mode: int) -> int | None:
    """A new file in the folder without a name yet; None if the system has no such files."""
    flags = getattr(os, "O_TMPFILE", 0)
    if flags and Path("/proc/self/fd").is_dir():
        with suppress(OSError):
            return os.open(folder, flags | os.O_WRONLY, mode)
    return None


def name_open_file(descriptor: int, path: Path) -> None:
    """Gives an open file its name. FileExistsError if the name exists."""
    _named(f"/proc/self/fd/{descriptor}", path)


def _named(source: str, path: Path) -> None:
    """Names the file by linkat(2), which follows /proc's link to it.

    The descriptor given is not looked at; it makes Python use that call instead of link(2).
    """
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.link(source, path, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)
