"""Files that the operator names for a command's results.

A regular file is replaced whole or not at all and keeps its mode; a new one gets the mode that the
umask leaves. Links are followed. Devices, pipes and descriptors (/dev/fd/N, /dev/stdout) are
written to and stay what they are. Plans, journals and snapshots have writers of their own, because
only their owner may read them.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from glob import escape
from itertools import count
from pathlib import Path

from reshardctl.errors import UsageError, command_line
from reshardctl.stores.new_file import name_open_file, open_unnamed, save_new

_DESCRIPTORS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
MOST_LINKS = 40
"""The number of links that Linux follows before it answers ELOOP."""
_LEFT = ".new"
"""The suffix of a file's name before it takes another's place."""
_NEW_MODE = 0o666
"""The mode of a new file, before the umask is taken from it."""


def check_file(path: Path) -> None:
    """UsageError unless `replace_file` will work, to be found out before anything is written."""
    if path.is_dir():
        raise UsageError(f"{path}: is a directory", "name a file")
    try:
        if not is_regular(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(0, "cannot be written to")
            return
        import tempfile  # it loads random

        with tempfile.TemporaryFile(dir=_target(path).parent):
            pass
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "name another file") from None


def check_new_file(path: Path, option: str = "-o") -> None:
    """As `check_file`, and UsageError for `-` and for a regular file or a link that exists already.

    option: the one that names the file.
    """
    if str(path) == "-":
        raise UsageError(f"{option} - names no file", f"for standard output: {option} /dev/stdout")
    check_file(path)
    if is_regular(path) and os.path.lexists(path):
        free = command_line(option, str(_free(path)))
        raise UsageError(f"{path} exists already; nothing was saved", f"name another file: {free}")


def _free(path: Path) -> Path:
    """The next name of the kind `app-2.plan` that no file has."""
    names = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(name for name in names if not os.path.lexists(name))


def is_regular(path: Path) -> bool:
    """Whether this name is, or would become, a regular file. Opening it tells what is wrong."""
    try:
        return _descriptor(path) is None and not _is_special(path)
    except OSError:
        return True


def text_of(path: Path) -> str:
    """The text of a regular file that will be replaced; "" for any other or an unreadable one."""
    try:
        if _descriptor(path) is None and path.is_file():
            return path.read_text("utf-8", "replace")
    except OSError:
        pass
    return ""


def replace_file(path: Path, text: str) -> None:
    """Writes the text; see the module. UsageError if the system refuses."""
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


def save_private(path: Path, texts: Iterable[str], unsaved: str, option: str) -> None:
    """Writes a new file as `save_new` does; an existing pipe or device is written to."""
    if is_regular(path):
        save_new(path, texts, unsaved, option)
    else:
        replace_file(path, "".join(texts))


def _replace(target: Path, text: str) -> None:
    """Writes the text without a name, and renames it over an existing file.

    A process that is killed just before that rename leaves `.NAME.….new`, whole. The next one that
    writes the file removes it.
    """
    _remove_left(target)
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}{_LEFT}")
    named = False
    try:
        descriptor, named = _opened(temporary)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            flock(file, LOCK_EX)
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            if not named:
                with suppress(FileExistsError):
                    name_open_file(file.fileno(), target)
                    return
                named = True
                name_open_file(file.fileno(), temporary)
            temporary.replace(target)
    except BaseException:
        if named:
            temporary.unlink(missing_ok=True)
        raise


def _opened(temporary: Path) -> tuple[int, bool]:
    """A new file, and whether it has that name: some systems have no unnamed files."""
    unnamed = open_unnamed(temporary.parent, _NEW_MODE)
    if unnamed is not None:
        return unnamed, False
    return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _NEW_MODE), True


def _remove_left(target: Path) -> None:
    """Removes files that killed processes left beside the target. A live writer holds its lock."""
    for path in target.parent.glob(f".{escape(target.name)}.*{_LEFT}"):
        with suppress(OSError), path.open("rb") as file:
            flock(file, LOCK_EX | LOCK_NB)
            path.unlink()


def _write(descriptor: int, text: str) -> None:
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _target(path: Path) -> Path:
    """The file itself, at the end of all links."""
    return Path(os.path.realpath(path))


def _is_special(path: Path) -> bool:
    """Whether the path is something other than a regular file: a device, a pipe, a socket."""
    return path.exists() and not path.is_file()


def _descriptor(path: Path) -> int | None:
    """The number of the open descriptor that the path names, or None.

    Replacing what /dev/stdout leads to would leave the program that opened it with the old file.
    """
    for text in _names(path):
        if text in _DESCRIPTORS:
            return _DESCRIPTORS[text]
        folder, _, number = text.rpartition("/")
        if folder in ("/dev/fd", "/proc/self/fd") and number.isascii() and number.isdecimal():
            return int(number)
    return None


def _names(path: Path) -> Iterator[str]:
    """The path, and each path that it leads to as a link."""
    for _ in range(MOST_LINKS):
        yield os.path.normpath(path)
        if not path.is_symlink():
            return
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
