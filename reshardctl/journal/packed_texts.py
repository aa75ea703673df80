"""Whole texts in a journal, compressed: a store may keep all rows in one, such as a metastore's.

Apart from the records, which a listing reads of every journal: it unpacks none of the texts.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reshardctl.codec.strict import JsonPath, members, strings
from reshardctl.stores.given_file import LARGEST

_PIECE = 1 << 20
"""Bytes that are unpacked at once."""


def texts_body(texts: Mapping[str, str]) -> dict[str, Any]:
    """Whole texts by name, compressed: a metastore's may be large."""
    packed = {n: b64encode(zlib.compress(text.encode())).decode() for n, text in texts.items()}
    return {"zlib": packed}


class Packed(Mapping[str, str]):
    """Whole texts by name, each unpacked when it is asked for: a listing needs none of them.

    UsageError for one that is no packed text, or unpacks to more than a file may hold.
    """

    def __init__(self, packed: Mapping[str, str], json_path: JsonPath) -> None:
        """packed: by name. json_path: where they are recorded, for messages."""
        self._packed, self._json_path = packed, json_path

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def __getitem__(self, name: str) -> str:
        where = self._json_path / name
        try:
            packed = b64decode(self._packed[name])
            if sum(map(len, _pieces(packed))) > LARGEST:  # before any of it is kept
                where.wrong(f"unpacks to more than {LARGEST:,} bytes")
            return b"".join(_pieces(packed)).decode()
        except (ValueError, zlib.error):
            where.wrong("not a packed text")


def _pieces(packed: bytes) -> Iterable[bytes]:
    """The content in pieces, up to the first one after LARGEST bytes."""
    unpacking, rest, size = zlib.decompressobj(), packed, 0
    while not unpacking.eof and size <= LARGEST:
        piece = unpacking.decompress(rest, _PIECE)
        if not (piece or unpacking.unconsumed_tail or unpacking.eof):
            raise ValueError("it ends before its end")
        rest, size = unpacking.unconsumed_tail, size + len(piece)
        yield piece


def texts_of(body: object, json_path: JsonPath) -> Mapping[str, str]:
    """Whole texts by name, from JSON members."""
    record = members(body, ("zlib",), json_path)
    return Packed(strings(record["zlib"], json_path / "zlib"), json_path / "zlib")
