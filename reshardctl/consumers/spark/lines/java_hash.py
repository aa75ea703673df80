"""`String.hashCode` of Java."""

from __future__ import annotations

WORD = 0xFFFFFFFF


def java_hash(text: str) -> int:
    """Returns an unsigned word of 32 bits. text: no character outside the basic plane."""
    code = 0
    for character in text:
        code = code * 31 + ord(character) & WORD
    return code
