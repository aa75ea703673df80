"""`String.hashCode` of Java."""

from __future__ import annotations

from functools import lru_cache

WORD = 0xFFFFFFFF


@lru_cache(maxsize=1 << 14)
def java_hash(text: str) -> int:
    """Returns an unsigned word of 32 bits. text: no character outside the basic plane."""
    code = 0
    for character in text:
        code = code * 31 + ord(character) & WORD
    return code
