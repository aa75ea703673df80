"""A file and its checksum as one unit: a note of what a process was changing them to.

It names contents by digest, so the next writer can tell which of the two contents is there, and
which checksum belongs to it. Checksums are short and are kept whole in the note.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from reshardctl.stores.files.blobs import Blob

_FORMAT = 1
_SIDES = ("before", "after")


@dataclass(frozen=True, slots=True)
class Unit:
    """A file and its checksum, before and after the change.

    Each side: the digest of the content, `None` for no file; and the checksum beside it, `None` for
    none.
    """

    key: str
    before: tuple[str | None, bytes | None]
    after: tuple[str | None, bytes | None]

    @classmethod
    def of(
        cls, key: str, file: Blob | None, crc: Blob | None,
        content: bytes | None, checksum: bytes | None,
    ) -> Unit:
        """The unit of a file and a checksum, as they were read and as they will be."""
        return cls(
            key, (_digest(file.content if file else None), crc.content if crc else None),
            (_digest(content), checksum),
        )

    def text(self) -> bytes:
        """The unit as a note."""
        sides = {
            name: [digest, None if crc is None else base64.b64encode(crc).decode()]
            for name, (digest, crc) in zip(_SIDES, (self.before, self.after), strict=True)
        }
        return json.dumps({"format": _FORMAT, "key": self.key, **sides}).encode()

    @classmethod
    def read(cls, note: bytes) -> Unit | None:
        """The unit of a note; `None` for a text that is none, or of another release."""
        try:
            members: dict[str, Any] = json.loads(note)
            if members["format"] != _FORMAT:
                return None
            before, after = (
                (digest, None if crc is None else base64.b64decode(crc))
                for digest, crc in (members[name] for name in _SIDES)
            )
            return cls(str(members["key"]), before, after)
        except (ValueError, KeyError, TypeError):
            return None

    def checksum(self, file: Blob | None, crc: Blob | None) -> tuple[bool, bytes | None]:
        """Whether the checksum of the present content is known, and which it is.

        It is unknown if another program has written one of the two since.
        """
        digest = _digest(file.content if file else None)
        there = crc.content if crc else None
        if there is not None and there not in (self.before[1], self.after[1]):
            return False, None
        for side in (self.after, self.before):
            if side[0] == digest:
                return True, side[1]
        return False, None


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()
