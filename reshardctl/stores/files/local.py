"""A directory of this machine, and copies of it, with everything in it, to a new name."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from reshardctl.errors import CannotTell, NoStore, Refused, ReshardError, UsageError, command_line
from reshardctl.stores.files.blobs import Blob, Entry, Kept, check_size, checked, split
from reshardctl.stores.files.swapping import (
    create,
    delete,
    forgotten,
    noted,
    notes,
    ours,
    replace,
    tidy,
)
from reshardctl.stores.files.system import (
    Ownership,
    Place,
    alone,
    folders_of,
    place,
    unreadable,
    unwritable,
)
from reshardctl.stores.new_file import sync

TRIES = 3
"""How often a file is read that changes meanwhile."""
_GONE = {errno.ENOENT, errno.ENOTDIR}
_Folder = tuple[Path, tuple[Ownership, ...]]
"""The real path of a folder, and whose it and those above it are."""


class Local:
    """See `Blobs`. Links are followed while they stay below the root, and never written."""

    checksums = True
    at_once = 1

    def __init__(
        self, path: str, progress: Callable[[int, int], None] = lambda _done, _all: None,
        absent: str = "",
    ) -> None:
        """Touches nothing yet.

        progress: called with the number of files read and their total. absent: what else to
        try where the directory does not exist.
        """
        self._progress = progress
        self._absent = absent
        self.location = path
        self._root = _resolved(Path(path))
        self._alone = False

    def identity(self) -> Mapping[str, str]:
        """The real `path`, and the directory's `inode`, which another one in its place has not."""
        try:
            status = self._root.stat()
        except OSError as error:
            raise self._no_root(error) from None
        if not stat.S_ISDIR(status.st_mode):
            raise self._no_root(NotADirectoryError())
        return {"medium": "files", "path": str(self._root), "inode": str(status.st_ino)}

    def list(self, folder: str) -> list[Entry] | None:
        """The entries of a folder, in the order of the file system."""
        path = self._real(folder)
        if path is None:
            return None
        try:
            with os.scandir(path) as names:
                return [self._entry(entry) for entry in names if not ours(entry.name)]
        except OSError as error:
            if not folder:
                raise self._no_root(error) from None
            if error.errno in _GONE:
                return None
            raise unreadable(f"{self.location}/{folder}", error) from None

    def read(self, keys: Collection[str]) -> dict[str, Blob | None]:
        """All that `each` gives."""
        return dict(self.each(keys))

    def each(self, keys: Collection[str]) -> Iterator[tuple[str, Blob | None]]:
        """Reads one file after the other, which is fastest on a disk."""
        folders: dict[str, _Folder | None] = {}
        for done, key in enumerate(keys, 1):
            blob = self._read(key, folders)
            self._progress(done, len(keys))
            yield key, blob

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Makes other reshardctl processes wait; removes what a killed one left."""
        with alone(self._root, self.location) as locked:
            if locked:
                tidy(self._root)
            self._alone = locked
            try:
                yield
            finally:
                self._alone = False

    @contextmanager
    def together(self, note: bytes) -> Iterator[None]:
        """Keeps the note as a file in the root, on disk before the first change."""
        with unwritable(self.location):
            path = noted(self._root, note)
        try:
            yield
        finally:
            forgotten(path)

    def unfinished(self) -> Iterator[bytes]:
        """The notes of killed processes; none without locks, as the process may be alive."""
        path = self._root
        try:
            for path in notes(self._root) if self._alone else ():
                yield path.read_bytes()
                forgotten(path)
        except OSError as error:
            raise unreadable(str(path), error) from None

    def create(self, key: str, content: bytes, kept: Kept | None = None) -> None:
        """Writes a temporary file, then gives it its name, never over another file."""
        path = self._target(key)
        own = None if kept is None else Place.read(key, kept)
        with unwritable(f"{self.location}/{key}"):
            create(self._root, path, content, own)

    def replace(self, key: str, content: bytes, was: Blob) -> None:
        """Exchanges the files if the system can: what comes out must be what was read."""
        path = self._target(key)
        with unwritable(f"{self.location}/{key}"):
            replace(self._root, path, content, was.content)

    def delete(self, key: str, was: Blob) -> None:
        """Renames the file first: what is deleted must be what was read."""
        path = self._target(key)
        with unwritable(f"{self.location}/{key}"):
            delete(self._root, path, was.content)

    def _entry(self, entry: os.DirEntry[str]) -> Entry:
        name = entry.name.encode(errors="surrogateescape").decode(errors="backslashreplace")
        try:
            inside = not entry.is_symlink() or self._inside(_resolved(Path(entry.path)))
            seen = entry.stat(follow_symlinks=inside)
        except OSError as error:
            return Entry(name, unread=f"it cannot be looked at ({error.strerror})")
        if name != entry.name:
            return Entry(name, unread="its name is not UTF-8")
        if not inside:
            return Entry(name, unread="it is a link that leads out of the directory")
        if stat.S_ISDIR(seen.st_mode):
            return Entry(name, folder=True)
        if not stat.S_ISREG(seen.st_mode):
            return Entry(name, unread="it is neither a file nor a directory")
        return Entry(name, False, seen.st_size, seen.st_mtime_ns)

    def _read(self, key: str, folders: dict[str, _Folder | None]) -> Blob | None:
        """Reads one file. folders: each folder seen so far."""
        folder, name = split(checked(key))
        if folder not in folders:
            folders[folder] = self._folder(folder)
        found = folders[folder]
        if found is None:
            return None
        real, owns = found
        try:
            return self._read_unchanged(f"{real}/{name}", key, owns)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise unreadable(f"{self.location}/{key}", error, f"{real}/{name}") from None
        path = self._real(key)
        try:
            return None if path is None else self._read_unchanged(str(path), key, owns)
        except OSError as error:
            raise unreadable(f"{self.location}/{key}", error, str(path)) from None

    def _folder(self, folder: str) -> _Folder | None:
        real = self._real(folder)
        return None if real is None else (real, folders_of(self._root, self._root / folder))

    def _read_unchanged(self, path: str, key: str, owns: tuple[Ownership, ...]) -> Blob | None:
        """A content that did not change while it was read. OSError, ELOOP for a link."""
        for _ in range(TRIES):
            try:
                blob = _content(path, f"{self.location}/{key}", owns)
            except OSError as error:
                if error.errno in _GONE:
                    return None
                raise
            if blob is not None:
                return blob
        raise CannotTell(
            f"cannot read {self.location}/{key}: it changes while it is read, again and again",
            "stop what writes there, then run this again",
        )

    def _real(self, key: str) -> Path | None:
        """The real path of a key; `None` if nothing is there. CannotTell out of the root."""
        path = _resolved(self._root / key)
        if not self._inside(path):
            raise CannotTell(
                f"cannot read {self.location}/{key}: it is a link that leads out of the directory, "
                f"to {path}",
                "put the file itself in its place",
            )
        return path if not key or os.path.lexists(path) else None

    def _inside(self, path: Path) -> bool:
        return path.is_relative_to(self._root)

    def _target(self, key: str) -> Path:
        """The path to write a key to. Refused if that would be through a link."""
        path = self._root / checked(key)
        if _resolved(path) != path:
            raise Refused(
                f"cannot write {self.location}/{key}: it is a link, or is reached by one",
                "put the file itself in its place",
            )
        return path

    def _no_root(self, error: OSError) -> ReshardError:
        if error.errno in _GONE or isinstance(error, NotADirectoryError):
            above = next(folder for folder in self._root.parents if folder.is_dir())
            hint = f"check the path: ls {shlex.quote(str(above))}{self._absent}"
            if "~" in self.location:
                hint = "write the path in full: no shell puts a home after the colon"
            return NoStore(f"there is no directory {self.location}", hint)
        return unreadable(self.location, error, str(self._root))


def _resolved(path: Path) -> Path:
    """The path without links; a cycle of links stays as it is, and cannot be read."""
    return Path(os.path.realpath(path))


def _content(path: str, name: str, owns: tuple[Ownership, ...]) -> Blob | None:
    """The content of a file; `None` if it changed meanwhile. owns: whose its folders are."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise CannotTell(f"cannot read {name}: it is no file", "put a file in its place")
        check_size(name, before.st_size)
        content = _bytes(descriptor, before.st_size)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    sizes = {before.st_size, len(content), after.st_size}
    if len(sizes) > 1 or before.st_mtime_ns != after.st_mtime_ns:
        return None
    return Blob(content, after.st_mtime_ns, kept=Place(Ownership.of(after), owns).kept)


def _bytes(descriptor: int, size: int) -> bytes:
    """All bytes of a file, which had this size: one call reads them, and one more that it ends."""
    pieces = [os.read(descriptor, size + 1)]
    while pieces[-1]:
        pieces.append(os.read(descriptor, size + 1))
    return b"".join(pieces) if len(pieces) > 2 else pieces[0]


def copied(source: Path, to: Path) -> None:
    """Copies a tree: content, modes and times of files, hidden ones too; folders as well.

    The new name appears when the copy is complete; an interrupted copy leaves a hidden folder
    beside it, `.NAME.*.copy`, and nothing else. UsageError if the name exists or lies in the tree
    itself, Refused for a link or anything else that is neither file nor folder, CannotTell if a
    file cannot be read or written.
    """
    source, parent = source.resolve(), to.parent.resolve()
    whole = parent / to.name
    if whole.exists() or whole.is_symlink():
        raise UsageError(f"{to} is there already", "name a folder that is not there yet")
    if not parent.is_dir():
        raise UsageError(f"{to.parent} is no folder", command_line("mkdir", "-p", str(to.parent)))
    if whole.is_relative_to(source):
        raise UsageError(f"{to} lies in {source}", "name a folder beside it")
    try:
        _copied(source, whole)
    except OSError as error:
        raise CannotTell(
            f"copying {source} to {to}: {error.strerror or error}"
            + (f" ({error.filename})" if error.filename else ""),
            "mend that, or name a folder elsewhere with --to",
        ) from None


def _copied(source: Path, whole: Path) -> None:
    tree = list(_tree(source))
    half = Path(tempfile.mkdtemp(".copy", f".{whole.name}.", whole.parent))
    try:
        for path, is_folder in tree:
            there = half / path.relative_to(source)
            if is_folder:
                there.mkdir()
            else:
                shutil.copy2(path, there, follow_symlinks=False)
                sync(there)
        for path, is_folder in reversed(tree):
            if is_folder:
                shutil.copystat(path, half / path.relative_to(source))
                sync(half / path.relative_to(source))
        shutil.copystat(source, half)
        if not place(half, whole):
            raise CannotTell(
                f"{whole.parent}: this file system cannot rename without replacing",
                "name a folder of another file system with --to",
            )
        sync(whole.parent)
    except BaseException:
        shutil.rmtree(half, ignore_errors=True)
        raise


def _tree(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Everything below a folder, folders before their contents, and whether it is a folder."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path, mode = Path(entry.path), entry.stat(follow_symlinks=False).st_mode
        if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            what = "a symbolic link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
            raise Refused(
                f"{path} is {what}: a copy would not be the checkpoint that Spark reads",
                "put the file itself in its place, or repair without --to",
            )
        yield path, stat.S_ISDIR(mode)
        if stat.S_ISDIR(mode):
            yield from _tree(path)
