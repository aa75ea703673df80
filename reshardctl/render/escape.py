"""Text from stores, made harmless for terminals and pipes.

A row may hold anything: escape sequences that steer a terminal, line ends that fake a finding,
bidi overrides that turn a number around (CVE-2021-42574), marks that pile up.
"""

from __future__ import annotations

import re
import unicodedata

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TAME = re.compile(r"[ -~]*\Z")

_PLAIN = str.maketrans({
    "–": "-", "—": "-", "·": "*", "…": "...", "≤": "<=", "≥": ">=", "✗": "x", "✓": "=", "→": "->",
    "─": "-", "│": "|", "┬": "+", "├": "|", "└": "`", "┐": "+", "┴": "+", "┤": "+", "’": "'",
})
"""Look-alikes of our own signs; those that lines are drawn with keep their width."""


def escape(text: str) -> str:
    r"""The text with every invisible character replaced by its escape sequence, as in `\x1b`."""
    if _TAME.match(text):
        return text
    return "".join(c if _visible(c) else _spelled(c) for c in text)


def _visible(character: str) -> bool:
    """Neither control, format, separator, unassigned or private, nor a combining mark."""
    return character.isprintable() and unicodedata.category(character)[0] != "M"


def _spelled(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def ascii_only(text: str) -> str:
    """The text in ASCII: our own signs by look-alikes, the rest spelled out."""
    if text.isascii():
        return text
    return "".join(c if c.isascii() else _spelled(c) for c in text.translate(_PLAIN))


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and how long it was."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
