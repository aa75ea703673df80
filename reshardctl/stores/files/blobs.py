"""What a tree of files is kept in: named contents, each replaced as a whole or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from reshardctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder. modified: nanoseconds since 1970; unread: why it cannot be read."""

    name: str
    folder: bool = False
    size: int = 0
    modified: int = 0
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Blob:
    """A content as it was read. token: what tells it from any other at the same place; kept: what
    else a new content of the same file has to be stored with."""

    content: bytes
    modified: int
    token: Any = None
    kept: Any = None


class Moved(Exception):
    """A file is not as it was read. Nothing was written."""


class Blobs(Protocol):
    """All methods raise CannotTell and UsageError; those that write also raise Refused (nothing
    was written) and AnswerLost (nobody can say). Keys are paths below the root."""

    location: str
    """What messages call the root."""
    checksums: bool
    """Whether Hadoop keeps `.<name>.crc` siblings here."""

    def identity(self) -> Mapping[str, str]:
        """What tells this place from every other."""

    def list(self, folder: str) -> list[Entry] | None:
        """What is in a folder, "" for the root, in any order; `None` where there is none."""

    def read(self, keys: Collection[str]) -> dict[str, Blob | None]:
        """Contents, each as it was at one moment; `None` for an absent file."""

    def writing(self) -> AbstractContextManager[None]:
        """Around each write: nobody else of ours writes here meanwhile, where that can be had."""

    def together(self, note: bytes) -> AbstractContextManager[None]:
        """Around changes of files that belong together, while writing: killed in it, the note is
        among `unfinished` for whoever writes next."""

    def unfinished(self) -> Iterator[bytes]:
        """While writing: the notes of killed processes. Each is gone once the next is asked for."""

    def create(self, key: str, content: bytes) -> None:
        """A new file. Raises Moved over an existing one."""

    def replace(self, key: str, content: bytes, was: Blob) -> None:
        """Another content. Raises Moved unless the file is still as it was."""

    def delete(self, key: str, was: Blob) -> None:
        """No file, and no folder that it was the last one in. Raises Moved as `replace` does."""


def split(key: str) -> tuple[str, str]:
    """A file's folder and its name."""
    folder, _, name = key.rpartition("/")
    return folder, name


def joined(folder: str, name: str) -> str:
    """The key of a name in a folder."""
    return f"{folder}/{name}" if folder else name


def checked(key: str) -> str:
    """The key. UsageError for one that would lead out of the root."""
    if any(part in ("", ".", "..") for part in key.split("/")) or "\0" in key:
        raise UsageError(f"{key!r} names no file below the root")
    return key
