"""Files that the operator names for a command's results.

A regular file is replaced whole or not at all and keeps its mode; a new one gets the mode that the
umask leaves. Links are followed. Devices, pipes and descriptors (/dev/fd/N, /dev/stdout) are
written to and stay what they are. Plans, journals and snapshots have writers of their own, for
they are the owner's alone.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reshardctl.errors import UsageError

_DESCRIPTORS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
MOST_LINKS = 40
"""As many as Linux follows before it answers ELOOP."""
_NEW_MODE = 0o666
"""Of a new file, before the umask is taken from it."""


def check_file(path: Path) -> None:
    """UsageError unless `replace_file` will work: to be found out before anything is written."""
    if path.is_dir():
        raise UsageError(f"{path}: is a directory", "name a file")
    try:
        if not is_regular(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(0, "cannot be written to")
            return
        with tempfile.TemporaryFile(dir=_target(path).parent):
            pass
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "name another file") from None


def check_new_file(path: Path) -> None:
    """As `check_file`, and UsageError for a regular file that is there already."""
    check_file(path)
    if path.is_file() and _descriptor(path) is None:
        raise UsageError(f"{path} exists already; nothing was saved", "name another file with -o")


def is_regular(path: Path) -> bool:
    """Whether a file is, or would be made, under this name. Opening it tells what is wrong."""
    try:
        return _descriptor(path) is None and not _is_special(path)
    except OSError:
        return True


def replace_file(path: Path, text: str) -> None:
    """Write the text there; see the module. UsageError when the system refuses."""
    try:
        descriptor = _descriptor(path)
        if descriptor is not None:
            _write(os.dup(descriptor), text)
        elif _is_special(path):
            _write(os.open(path, os.O_WRONLY), text)
        else:
            _replace(_target(path), text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "name another file") from None


def _replace(target: Path, text: str) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        descriptor = os.open(temporary, flags, _NEW_MODE)
        if target.exists():
            os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
        _write(descriptor, text)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write(descriptor: int, text: str) -> None:
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _target(path: Path) -> Path:
    """The file itself, at the end of all links."""
    return Path(os.path.realpath(path))


def _is_special(path: Path) -> bool:
    """Whether there is something that is no regular file: a device, a pipe, a socket."""
    return path.exists() and not path.is_file()


def _descriptor(path: Path) -> int | None:
    """The number of the open descriptor that the path names; None where it names none.

    Replacing what /dev/stdout leads to would leave whoever opened it with the old file.
    """
    for text in _names(path):
        if text in _DESCRIPTORS:
            return _DESCRIPTORS[text]
        folder, _, number = text.rpartition("/")
        if folder in ("/dev/fd", "/proc/self/fd") and number.isascii() and number.isdecimal():
            return int(number)
    return None


def _names(path: Path) -> Iterator[str]:
    """The path, and where it leads as a link, link by link."""
    for _ in range(MOST_LINKS):
        yield os.path.normpath(path)
        if not path.is_symlink():
            return
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
