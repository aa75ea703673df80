"""Stores that are files: which of them to look at, and texts that hold many rows.

A file is an `Image` whose key is its path below the root, parts joined by `/`. Its attributes:

    text      S   its content, where that is UTF-8; many long ones that are alike take less memory
                  (model/alike.py)
    bytes     B   its content, where it is not
    crc       B   the bytes of its hidden sibling `.<name>.crc` (Hadoop's checksums), where that
                  is; an image with nothing else is such a sibling that lost its file
    size      N   bytes, as seen
    modified  N   nanoseconds since 1970, as seen
    unread    S   why it never can be read (a socket, a link that leads out of the root)

A file that was seen in a listing but not wanted has neither `text` nor `bytes`. A folder that was
seen is an image too: its key ends in `/`, and it has no attributes. `size` and `modified` belong in
no guard and in no footprint, and with `crc` in what a consumer calls `moving`: a write that is cut
short leaves a whole file whose sibling is yet to come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from reshardctl.model.images import Image, Write


@dataclass(frozen=True, slots=True)
class Wants:
    """Folders to list ("" for the root) and files to read. Absent ones are no failure."""

    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


Select = Callable[[Mapping[str, Image], frozenset[str]], Wants]
"""(images so far by key, folders listed so far) → everything that is wanted, so far.

Asked again after each round until it wants nothing new; pure, and never wants less than before. A
folder that does not exist counts as listed and gives no images.
"""

READ = frozenset({"text", "bytes", "crc"})
"""What a guard of a file may name."""


def refused(row: Image) -> str:
    """Why the program that keeps the text does not load it, by a row of it; "" where it does."""
    return str(row.attributes.get("refused", {}).get("S", ""))


class Codec(Protocol):
    """The format of one text that holds many rows. Pure, and fast on 100 MB."""

    def images(self, text: str) -> list[Image]:
        """The rows, in key order.

        UsageError for a text that holds none or cannot be read, with the reason alone: the caller
        knows where the text is kept.
        """

    def written(self, text: str, writes: Sequence[Write]) -> str:
        """The text after the writes, with every other byte as it was.

        The guards hold already. UsageError if a row cannot be written.
        """

    def identity(self, text: str) -> Mapping[str, str]:
        """What distinguishes this text from any other kept in the same place."""
