"""Columns of decimal texts, two digits per byte: a million of them without a million objects.

Two decimal digits in a byte (BCD) compare like the texts they stand for, and `bytes.fromhex` and
`bytes.hex` convert between the two at the speed of C.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import unpack

_ABSENT = 0xFF
_UNPACKED = 0xEE
_BCD = bytes(16 * tens + ones for tens in range(10) for ones in range(10))
BCD_OR_ABSENT = _BCD + bytes([_ABSENT])


class Digits:
    """One text per row, "" for none. Texts of exactly `digits` digits are packed, others kept.

    packed: `width` bytes per row; they are all numbers only if `extend_padded` added them.
    """

    def __init__(self, digits: int) -> None:
        self._digits = digits
        self.width = digits // 2
        self.packed = bytearray()
        self._unpacked: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.packed) // self.width

    def __getitem__(self, row: int) -> str:
        raw = self.raw(row)
        if raw[0] < _UNPACKED:
            return raw.hex()
        return "" if raw[0] == _ABSENT else self._unpacked[row]

    def raw(self, row: int) -> bytes:
        """The packed bytes of a row; they compare as the numbers do, where both were packed."""
        return bytes(self.packed[row * self.width : (row + 1) * self.width])

    def raw_rows(self) -> tuple[bytes, ...]:
        """`raw` of every row: 60 bytes of memory for each, for loops over the whole column."""
        return unpack(f"{self.width}s" * len(self), self.packed)

    def exact(self) -> bytes:
        """The whole column as bytes, for comparison."""
        return bytes(self.packed) + repr(sorted(self._unpacked.items())).encode()

    def is_absent(self, row: int) -> bool:
        """Whether the row has no text."""
        return self.packed[row * self.width] == _ABSENT

    def absent(self) -> list[int]:
        """The rows without a text."""
        firsts = self.packed[:: self.width]
        rows, at = [], firsts.find(_ABSENT)
        while at >= 0:
            rows.append(at)
            at = firsts.find(_ABSENT, at + 1)
        return rows

    def extend(self, texts: Sequence[str]) -> None:
        """Appends one text per row."""
        none = "f" * self._digits
        full = texts if all(texts) else [text or none for text in texts]
        packed = pack(" ".join(full), len(texts), self._digits)
        if packed is None or packed.translate(None, BCD_OR_ABSENT):
            for text in texts:
                self._append(text)
        else:
            self.packed += packed

    def extend_padded(self, texts: Sequence[str]) -> None:
        """Appends numbers of up to `digits` digits, for a column where only the value counts.

        ValueError if a text is anything else.
        """
        text = (f"%{self._digits}s" * len(texts) % tuple(texts)).replace(" ", "0")
        packed = bytes.fromhex(text)
        if len(text) != self._digits * len(texts) or packed.translate(None, _BCD) or not all(texts):
            raise ValueError(f"not all are numbers of up to {self._digits} digits")
        self.packed += packed

    def chosen(self, rows: Iterable[int]) -> Digits:
        """A column of these rows, in this order."""
        new = Digits(self._digits)
        for row in rows:
            if row in self._unpacked:
                new._unpacked[len(new)] = self._unpacked[row]
            new.packed += self.raw(row)
        return new

    def _append(self, text: str) -> None:
        if text and not (len(text) == self._digits and text.isascii() and text.isdigit()):
            self._unpacked[len(self)] = text
            self.packed += bytes([_UNPACKED]) * self.width
        else:
            self.packed += bytes.fromhex(text or "f" * self._digits)


def pack(text: str, count: int, digits: int) -> bytes | None:
    """Packs `count` texts joined by blanks; `None` if one is not `digits` hexadecimal digits.

    `fromhex` skips the blanks, whose places prove how long each text is.
    """
    if len(text) != count * (digits + 1) - 1 or text[digits :: digits + 1] != " " * (count - 1):
        return None
    try:
        packed = bytes.fromhex(text)
    except ValueError:
        return None
    return packed if 2 * len(packed) == digits * count else None
