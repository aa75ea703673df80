"""A directory of any Hadoop file system (hdfs://, abfss://, gs://, …), through PySpark's JVM.

A new file is written under another name and renamed, as Spark's own checkpoint files are
(CheckpointFileManager); FileContext.rename refuses an existing name unless told to overwrite it.
It gets the owner and the mode of the file that it replaces, or of its neighbours. A replacement is
guarded only by a comparison: no Hadoop file system has a conditional rename. Where a rename is a
copy, nothing is written. A locator on S3 does not come here: boto3 reads and writes it.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from typing import Any, TypeVar
from uuid import uuid4

from reshardctl.errors import INSPECT, AnswerLost, CannotTell, NoStore, Refused, ReshardError
from reshardctl.spark.hadoop_owners import Owners, kind_of, owned, refused, unread
from reshardctl.spark.session import configuration, gateway
from reshardctl.stores.files.blobs import (
    Blob,
    Entry,
    Kept,
    Moved,
    check_size,
    checked,
    joined,
    split,
)
from reshardctl.stores.files.swapping import ours
from reshardctl.stores.files.system import Ownership, Place

T = TypeVar("T")
COPYING = ("s3", "s3a", "s3n", "oss", "cosn")
"""Schemes of object stores whose connector renames by copying and deleting."""
_MILLISECOND = 10**6


class Hadoop:
    """See `Blobs`. The file system keeps checksums of its own."""

    checksums = False
    at_once = 1

    def __init__(
        self, url: str, *, progress: Callable[[int, int], None] = lambda _done, _all: None
    ) -> None:
        """Connects to nothing yet.

        url: with its scheme. progress: called with the number of files read and their total.
        """
        self._progress = progress
        self.location = url.rstrip("/")
        self._java = cache(gateway)
        self._found: tuple[Any, Any] | None = None

    def identity(self) -> Mapping[str, str]:
        """The path with scheme and authority, as Hadoop spells it."""
        context, root = self._context()
        return {"medium": "hadoop", "path": str(context.makeQualified(root).toString())}

    def list(self, folder: str) -> list[Entry] | None:
        """Lists with one listStatus."""
        context, _ = self._context()
        path = self._path(folder)

        def listed() -> list[Entry]:
            if not context.getFileStatus(path).isDirectory():
                raise _Absent
            return [_entry(status) for status in context.util().listStatus(path)]

        entries = self._asked(listed, joined(self.location, folder) if folder else self.location)
        if entries is None:
            if not folder:
                raise NoStore(
                    f"there is no directory {self.location}",
                    f"hadoop fs -ls {shlex.quote(posixpath.dirname(self.location))}",
                )
            return None
        return [entry for entry in entries if not ours(entry.name)]

    def read(self, keys: Collection[str]) -> dict[str, Blob | None]:
        """All that `each` gives."""
        return dict(self.each(keys))

    def each(self, keys: Collection[str]) -> Iterator[tuple[str, Blob | None]]:
        """Reads one file after the other: the gateway handles one call at a time."""
        folders: dict[str, tuple[Ownership, ...]] = {}
        for done, key in enumerate(keys, 1):
            blob = self._read(checked(key), folders)
            self._progress(done, len(keys))
            yield key, blob

    def writing(self) -> AbstractContextManager[None]:
        """No locks exist, so it does nothing."""
        return nullcontext()

    def together(self, note: bytes) -> AbstractContextManager[None]:  # noqa: ARG002
        """Does nothing: the file system keeps the checksums itself."""
        return nullcontext()

    def unfinished(self) -> Iterator[bytes]:
        """Yields nothing."""
        return iter(())

    def create(self, key: str, content: bytes, kept: Kept | None = None) -> None:
        """Creates by rename, which refuses an existing name."""
        context, _ = self._context()
        target = self._path(checked(key))
        own = None if kept is None else Place.read(key, kept)
        made: list[Any] = []

        def wanted() -> Ownership:
            self._owners().make(target.getParent(), made, own.folders if own else ())
            return own.file if own else self._owners().neighbour(target)

        def rename(temporary: Any) -> None:
            if context.util().exists(target):
                raise Moved(key)
            context.rename(temporary, target, self._array("Rename"))

        try:
            self._put(key, content, wanted, rename, lambda now: now is None)
        except (Moved, Refused):
            with suppress(Exception):
                for folder in made:
                    context.delete(folder, False)
            raise

    def replace(self, key: str, content: bytes, was: Blob) -> None:
        """Compares once more, then renames over the file."""
        context, _ = self._context()
        target = self._path(checked(key))
        overwrite = self._jvm().org.apache.hadoop.fs.Options.Rename.OVERWRITE

        def rename(temporary: Any) -> None:
            self._compare(key, was)
            context.rename(temporary, target, self._array("Rename", overwrite))

        self._put(
            key, content, lambda: owned(context.getFileStatus(target)), rename,
            lambda now: _is(now, was.content), target,
        )

    def delete(self, key: str, was: Blob) -> None:
        """Compares once more, then deletes; folders that become empty are deleted too."""
        self._may_write(key)
        context, _ = self._context()
        self._compare(key, was)
        path = self._path(checked(key))
        self._changed(
            lambda: context.delete(path, False), key,
            lambda now: now is None, lambda now: _is(now, was.content),
        )
        folder, _ = split(key)
        with suppress(Exception):
            while folder and not list(context.util().listStatus(self._path(folder))):
                context.delete(self._path(folder), False)
                folder, _ = split(folder)

    def _put(
        self, key: str, content: bytes, wanted: Callable[[], Ownership],
        rename: Callable[[Any], None], before: Callable[[Blob | None], bool],
        replaced: Any = None,
    ) -> None:
        """Write a temporary file and rename it.

        wanted: whose it shall be. before: whether a content is the one that was there. replaced:
        the file whose access control list it gets.
        """
        self._may_write(key)
        context, _ = self._context()
        temporary = self._path(f".reshardctl.{uuid4()}.tmp")
        try:
            with self._nothing_done(key):
                own = wanted()
                self._write(temporary, content)
                if replaced is not None:
                    self._owners().let_in(temporary, replaced)
                self._owners().give(temporary, own, f"{self.location}/{key}")
            self._changed(lambda: rename(temporary), key, lambda now: _is(now, content), before)
        finally:
            with suppress(Exception):
                context.delete(temporary, False)

    def _write(self, path: Any, content: bytes) -> None:
        context, _ = self._context()
        java = self._jvm()
        flags = java.java.util.EnumSet.of(java.org.apache.hadoop.fs.CreateFlag.CREATE)
        mine = java.org.apache.hadoop.fs.permission.FsPermission("600")
        alone = java.org.apache.hadoop.fs.Options.CreateOpts.perms(mine)
        stream = context.create(path, flags, self._array("CreateOpts", alone))
        try:
            stream.write(bytearray(content))
            stream.hsync()
        finally:
            stream.close()

    def _read(
        self, key: str, folders: dict[str, tuple[Ownership, ...]] | None = None
    ) -> Blob | None:
        """Reads a file. folders: whose those are that were seen so far; `None` to leave it out."""
        context, _ = self._context()
        path = self._path(key)

        def read() -> Blob:
            status = context.getFileStatus(path)
            if not status.isFile():
                what = f"cannot read {self.location}/{key}: it is no file"
                raise CannotTell(what, "put a file in its place")
            check_size(f"{self.location}/{key}", status.getLen())
            stream = context.open(path)
            try:
                content = bytes(self._jvm().org.apache.commons.io.IOUtils.toByteArray(stream))
            finally:
                stream.close()
            modified = status.getModificationTime() * _MILLISECOND
            above: tuple[Ownership, ...] = ()
            if folders is not None:
                folder, _ = split(key)
                if folder not in folders:
                    depth = key.count("/")
                    folders[folder] = self._owners().above(path.getParent(), depth)
                above = folders[folder]
            return Blob(content, modified, kept=Place(owned(status), above).kept)

        return self._asked(read, f"{self.location}/{key}")

    def _compare(self, key: str, was: Blob) -> None:
        if not _is(self._read(key), was.content):
            raise Moved(key)

    def _may_write(self, key: str) -> None:
        scheme = self.location.partition(":")[0].lower()
        if scheme in COPYING:
            raise Refused(
                f"cannot write {self.location}/{key}: {scheme}:// has no atomic rename",
                "copy the checkpoint to a file system that has one, and repair the copy",
            )

    @contextmanager
    def _nothing_done(self, key: str) -> Iterator[None]:
        """Raises errors as Refused; Moved if the file is gone."""
        try:
            yield
        except ReshardError:
            raise
        except Exception as error:
            if kind_of(error) == "FileNotFoundException":
                raise Moved(key) from None
            raise refused(error, f"{self.location}/{key}") from None

    def _changed(
        self, call: Callable[[], Any], key: str, landed: Callable[[Blob | None], bool],
        before: Callable[[Blob | None], bool],
    ) -> None:
        """Make a change; if that fails, find out whether it was made."""
        try:
            call()
        except (Moved, ReshardError):
            raise
        except Exception as error:
            if kind_of(error) == "FileAlreadyExistsException":
                raise Moved(key) from None
            try:
                now = self._read(key)
            except ReshardError as unknown:
                what = f"writing {self.location}/{key}: {unknown.what}"
                raise AnswerLost(what, unknown.next or INSPECT) from None
            if landed(now):
                return
            if not before(now):
                raise Moved(key) from None
            raise refused(error, f"{self.location}/{key}") from None

    def _asked(self, call: Callable[[], T], name: str) -> T | None:
        """The result of a reading call; `None` if the file does not exist."""
        try:
            return call()
        except _Absent:
            return None
        except ReshardError:
            raise
        except Exception as error:
            if kind_of(error) in ("FileNotFoundException", "ParentNotDirectoryException"):
                return None
            raise unread(error, name) from None

    def _owners(self) -> Owners:
        context, _ = self._context()
        return Owners(context, self._jvm().org.apache.hadoop.fs.permission)

    def _context(self) -> tuple[Any, Any]:
        """The file context of the root's file system, and the root."""
        if self._found is None:
            java = self._jvm()
            conf = configuration(java)
            try:
                root = _qualified(java.org.apache.hadoop.fs.Path(self.location), conf)
                context = java.org.apache.hadoop.fs.FileContext.getFileContext(
                    root.toUri(), conf
                )
            except Exception as error:
                raise unread(error, self.location) from None
            self._found = context, root
        return self._found

    def _path(self, key: str) -> Any:
        _, root = self._context()
        return self._jvm().org.apache.hadoop.fs.Path(root, f"./{key}") if key else root

    def _array(self, kind: str, *values: Any) -> Any:
        """Options of a kind as an array, which is how Java passes variable arguments."""
        options = getattr(self._jvm().org.apache.hadoop.fs.Options, kind)
        array = self._java().new_array(options, len(values))
        for index, value in enumerate(values):
            array[index] = value
        return array

    def _jvm(self) -> Any:
        return self._java().jvm


class _Absent(Exception):
    """The directory does not exist."""


def _qualified(root: Any, conf: Any) -> Any:
    """The path, with the default NameNode if it names none (`hdfs:///x`), as Spark takes it.

    FileContext refuses a path without an authority (AbstractFileSystem.getUri), FileSystem takes
    it.
    """
    if root.toUri().getAuthority() is not None:
        return root
    return root.getFileSystem(conf).makeQualified(root)


def _entry(status: Any) -> Entry:
    name = str(status.getPath().getName())
    if status.isDirectory():
        return Entry(name, folder=True)
    if not status.isFile():
        return Entry(name, unread="it is a link")
    return Entry(name, False, status.getLen(), status.getModificationTime() * _MILLISECOND)


def _is(now: Blob | None, content: bytes) -> bool:
    return now is not None and now.content == content
