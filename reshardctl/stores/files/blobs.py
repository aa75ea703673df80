"""Where files are kept: named contents, each replaced as a whole or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from reshardctl.errors import CannotTell, UsageError


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder. modified: nanoseconds since 1970; unread: why it cannot be read."""

    name: str
    folder: bool = False
    size: int = 0
    modified: int = 0
    unread: str = ""


LARGEST = 1 << 30
"""Bytes of the largest file that is read: no log and no metastore comes near it."""
Kept = Mapping[str, Any]
"""What a file is stored with, as JSON: its mode and owner, or an object's headers."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A content as it was read.

    token: what distinguishes it from any other at the same place. kept: what a new content of the
    same file has to be stored with.
    """

    content: bytes
    modified: int
    token: Any = None
    kept: Kept | None = None


class Moved(Exception):
    """A file is not as it was read. Nothing was written."""


class Blobs(Protocol):
    """The files below a root. Keys are paths below the root.

    All methods raise CannotTell and UsageError; those that write also raise Refused (nothing was
    written) and AnswerLost (the outcome is unknown).
    """

    location: str
    """The name of the root in messages."""
    checksums: bool
    """Whether Hadoop keeps `.<name>.crc` siblings here."""

    def identity(self) -> Mapping[str, str]:
        """What distinguishes this root from every other."""

    def list(self, folder: str) -> list[Entry] | None:
        """The entries of a folder, "" for the root, in any order; `None` if it does not exist."""

    def read(self, keys: Collection[str]) -> dict[str, Blob | None]:
        """Contents, each as it was at one moment; `None` for an absent file."""

    def each(self, keys: Collection[str]) -> Iterator[tuple[str, Blob | None]]:
        """The same one by one, in the order of the keys: only a few contents are held at once."""

    def writing(self) -> AbstractContextManager[None]:
        """Surrounds each write, and keeps other reshardctl processes from writing if it can."""

    def together(self, note: bytes) -> AbstractContextManager[None]:
        """Surrounds changes of files that belong together, while writing.

        If the process is killed inside, the note is among `unfinished` for the next writer.
        """

    def unfinished(self) -> Iterator[bytes]:
        """While writing, the notes of killed processes.

        Asking for the next note deletes the last.
        """

    def create(self, key: str, content: bytes, kept: Kept | None = None) -> None:
        """Creates a file. Raises Moved if it exists.

        kept: what a file that was there before was stored with. ValueError for what is none.
        """

    def replace(self, key: str, content: bytes, was: Blob) -> None:
        """Replaces a content. Raises Moved unless the file is still as it was."""

    def delete(self, key: str, was: Blob) -> None:
        """Deletes a file, and its folder if that is then empty. Raises Moved as `replace` does."""


def check_size(name: str, size: int) -> None:
    """CannotTell for a file that is too large to be read."""
    if size > LARGEST:
        raise CannotTell(
            f"cannot read {name}: {size} bytes are too many",
            "no log and no metastore is so large: check the path",
        )


def split(key: str) -> tuple[str, str]:
    """The folder and the name of a file."""
    folder, _, name = key.rpartition("/")
    return folder, name


def joined(folder: str, name: str) -> str:
    """The key of a name in a folder."""
    return f"{folder}/{name}" if folder else name


def checked(key: str) -> str:
    """The key itself. UsageError for one that would lead out of the root."""
    if any(part in ("", ".", "..") for part in key.split("/")) or "\0" in key:
        raise UsageError(
            f"{key!r} names no file below the root", "name a file of the folder itself"
        )
    return key
