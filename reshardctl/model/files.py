"""Stores that are files: which of them to look at, and texts that hold many rows.

A file is an `Image` whose key is its path below the root, parts joined by `/`. Its attributes:

    text      S   its content, where that is UTF-8; many long ones that are alike take less memory
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

Offset logs of a query name the same shards batch after batch, with other sequence numbers. Such
texts, which differ in their digits alone, are kept as these digits: a log of 1.4 MB takes 0.34 MB
so, and what is found in the shape of one log is found in all of them.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from msgspec import Struct

from reshardctl.model.images import AttributeValue, Image, Write


class Wants(Struct, frozen=True):
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


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


def on_this_machine(path: str) -> str | None:
    """The path without `file:` or `file://`; `None` if it has another scheme.

    A scheme is followed by one slash or by three where no host is named: Hadoop takes `hdfs:///x`,
    and spells it `hdfs:/x` (org.apache.hadoop.fs.Path.toString).
    """
    match = _SCHEME.match(path)
    if match is None:
        return path.removeprefix("file:")
    return path.removeprefix("file:").removeprefix("//") if match[1] == "file" else None


LEAST = 1 << 14
"""Bytes of the smallest text that is kept so: of shorter ones there is little to save."""

_DIGITS = b"0123456789"
_AS_ZERO = bytes.maketrans(_DIGITS, b"0" * len(_DIGITS))
_OTHERS = bytes(set(range(256)) - set(_DIGITS))
_ZEROS = re.compile("(0+)")
_BLOCK = 256


class Shape(Struct, frozen=True, dict=True):
    """What alike texts have in common: `text` is any of them with 0 for each digit."""

    text: str

    def digits_before(self, place: int) -> int:
        """How many digits a text of this shape has before a place."""
        block = place // _BLOCK
        return self._digits_before_block[block] + self.text.count("0", block * _BLOCK, place)

    @cached_property
    def _digits_before_block(self) -> array[int]:
        blocks = range(0, len(self.text), _BLOCK)
        counts = (self.text.count("0", start, start + _BLOCK) for start in blocks)
        return array("I", accumulate(counts, initial=0))


class AlikeText(Struct, frozen=True):
    """A text of which a shape and the digits are kept; sliced and measured like a str.

    packed: the digits, two to a byte, with one 0 more where their number is odd.
    """

    shape: Shape
    packed: bytes

    @property
    def digits(self) -> str:
        """All digits of the text, in their order."""
        return self.packed.hex()[: self.shape.digits_before(len(self))]

    def __str__(self) -> str:
        """The whole text."""
        return _filled(self.shape.text, self.digits)

    def __len__(self) -> int:
        return len(self.shape.text)

    def __getitem__(self, place: slice) -> str:
        """A part of the text."""
        part = self.shape.text[place]
        first = self.shape.digits_before(place.indices(len(self))[0])
        last = first + part.count("0")
        digits = self.packed[first // 2 : (last + 1) // 2].hex()
        return _filled(part, digits[first % 2 :])


class AlikeValue(Mapping[str, str]):
    """The attribute value {"S": text} of such a text."""

    __slots__ = ("text",)

    def __init__(self, text: AlikeText) -> None:
        self.text = text

    def __getitem__(self, kind: str) -> str:
        """The whole text, made anew each time."""
        if kind != "S":
            raise KeyError(kind)
        return str(self.text)

    def __iter__(self) -> Iterator[str]:
        yield "S"

    def __len__(self) -> int:
        return 1


class Series:
    """Keeps a text as digits where the text before it has the same shape."""

    def __init__(self) -> None:
        self._zeroed = b""
        self._shape: Shape | None = None

    def value(self, content: bytes) -> AttributeValue | None:
        """A content as the value of an attribute, `None` where it has to be kept whole.

        UnicodeDecodeError for one that is no UTF-8 text, as the one before it was none.
        """
        if len(content) < LEAST:
            return None
        zeroed = content.translate(_AS_ZERO)
        if zeroed != self._zeroed:
            self._zeroed, self._shape = zeroed, None
            return None
        if self._shape is None:
            self._shape = Shape(zeroed.decode())
        digits = content.translate(None, _OTHERS).decode()
        return AlikeValue(AlikeText(self._shape, bytes.fromhex(digits + "0" * (len(digits) % 2))))


def outline(text: str | AlikeText) -> str:
    """The text itself, or its shape: what is no digit is found in it where the text has it."""
    return text if isinstance(text, str) else text.shape.text


def _filled(shape: str, digits: str) -> str:
    """The shape with these digits in place of its zeros."""
    pieces = _ZEROS.split(shape)
    start = 0
    for index in range(1, len(pieces), 2):
        end = start + len(pieces[index])
        pieces[index] = digits[start:end]
        start = end
    return "".join(pieces)
