"""Where files are kept: named contents, each replaced as a whole or not at all.

A store reads files as images, and writes images as files.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec import Struct

from reshardctl.errors import CannotTell, UsageError
from reshardctl.model import Attributes, AttributeValue, Image
from reshardctl.model.files import Series


class Entry(Struct, frozen=True):
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


class Blob(Struct, frozen=True):
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
    at_once: int
    """The most folders that are worth listing at the same time."""

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
    """CannotTell for a file of more than LARGEST bytes. name: the file, for the message."""
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


CONTENT = ("text", "bytes")
KEPT, CRC_KEPT = "stored_with", "crc_stored_with"
"""Mode and owner of the file and of its sibling, or an object's headers: a file that comes back
gets them back. Images of 0.1 and 0.2 have neither."""
SEEN = frozenset({"size", "modified", "unread"})
"""The attributes that a listing gives. Nothing writes them."""
SUFFIX = ".crc"


class Wanted(Struct, frozen=True):
    """A file and its sibling as they are to be: their contents, `None` for no file, and the rest.

    kept, crc_kept: what they are stored with, if that is known.
    """

    content: bytes | None = None
    crc: bytes | None = None
    kept: Kept | None = None
    crc_kept: Kept | None = None


def crc_of(key: str) -> str:
    """The key of a file's hidden checksum sibling."""
    folder, name = split(key)
    return joined(folder, f".{name}{SUFFIX}")


def owner_of(name: str) -> str | None:
    """The name of the file that a hidden sibling belongs to; `None` for any other name."""
    if name.startswith(".") and name.endswith(SUFFIX) and len(name) > len(SUFFIX) + 1:
        return name[1 : -len(SUFFIX)]
    return None


def image_of(
    key: str, file: Blob | None, crc: Blob | None, series: Series | None = None
) -> Image | None:
    """The image of a file and its sibling as read; `None` if neither exists.

    series: what keeps texts that are alike, where many files are read.
    """
    if file is None and crc is None:
        return None
    attributes: dict[str, AttributeValue] = {}
    if crc is not None:
        attributes["crc"] = {"B": base64.b64encode(crc.content).decode()}
        attributes |= _stored(CRC_KEPT, crc)
    if file is not None:
        attributes |= {**content_of(file.content, series), **seen(len(file.content), file.modified)}
        attributes |= _stored(KEPT, file)
    return Image(key, {name: attributes[name] for name in sorted(attributes)})


def content_of(content: bytes, series: Series | None) -> dict[str, AttributeValue]:
    """A content as an attribute: {"text": …} if it is UTF-8, else {"bytes": …}."""
    try:
        kept = series.value(content) if series is not None else None
        return {"text": {"S": content.decode()} if kept is None else kept}
    except UnicodeDecodeError:
        return {"bytes": {"B": base64.b64encode(content).decode()}}


def seen(size: int, modified: int) -> dict[str, AttributeValue]:
    """The attributes that a listing gives."""
    return {"modified": {"N": str(modified)}, "size": {"N": str(size)}}


def written(key: str, attributes: Attributes) -> Wanted:
    """The file and the sibling that an image stands for. ValueError if it stands for none."""
    if unknown := attributes.keys() - SEEN - {*CONTENT, "crc", KEPT, CRC_KEPT}:
        raise ValueError(f"{key}: a file has no {sorted(unknown)[0]!r}")
    kinds = [name for name in CONTENT if name in attributes]
    if len(kinds) > 1:
        raise ValueError(f"{key}: both text and bytes")
    content = _bytes(key, kinds[0], attributes[kinds[0]]) if kinds else None
    crc = _bytes(key, "crc", attributes["crc"]) if "crc" in attributes else None
    if content is None and crc is None:
        raise ValueError(f"{key}: neither text nor bytes nor crc")
    return Wanted(content, crc, _kept(key, KEPT, attributes), _kept(key, CRC_KEPT, attributes))


def _stored(name: str, blob: Blob) -> dict[str, AttributeValue]:
    if not blob.kept:
        return {}
    return {name: {"S": json.dumps(blob.kept, sort_keys=True, separators=(",", ":"))}}


def _kept(key: str, name: str, attributes: Attributes) -> Kept | None:
    if name not in attributes:
        return None
    try:
        kept = json.loads(attributes[name].get("S", ""))
    except ValueError:
        kept = None
    if not isinstance(kept, dict):
        raise ValueError(f"{key}: {name} is of another type")
    return kept


def _bytes(key: str, name: str, value: Mapping[str, Any]) -> bytes:
    match name, dict(value):
        case "text", {"S": str(text)}:
            return text.encode()
        case "bytes" | "crc", {"B": str(text)}:
            try:
                return base64.b64decode(text, validate=True)
            except binascii.Error:
                pass
        case _:
            pass
    raise ValueError(f"{key}: {name} is of another type")
