"""Passwords and tokens that were given, so that whatever is printed can be masked.

They stand in locators and URLs, of which some are misspelled: those are quoted in a message, and no
parser has found the password in them. So each given text is kept here when it comes in, read as
leniently as a person would, and `masked` is applied where text is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import quote, unquote

MASK = "***"
"""Replaces a password; as a password it counts as none."""

_SCHEME = re.compile(r"[^\w/?#@:]*(?:[\w-]+=)*[^\w/?#@:]*[A-Za-z][A-Za-z0-9+.-]*:")
"""With what may stand before it: blanks, quotes, the name of an option or of a service."""
_NESTED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_PORT = re.compile(r"\d+[/?#]", re.ASCII)
_DELIMITERS = re.compile(r"[\s/?#@]+")
_SENSITIVE = re.compile(r"pass|pwd|secret|tok|key|auth|cred|sig", re.IGNORECASE)
_NO_USER = frozenset({"snapshot", "spark", "file", "arn"})
"""What stands before the colon of a path or a name."""
_LEAST_PIECE = 4
_LONGEST = 4096
"""Characters of a text in which secrets are looked for."""
_MOST = 8
"""Places at which a password may end: some contain an `@`."""

_ends = re.compile("@|%40")

_passwords: set[str] = set()
"""In every spelling; masked before an `@`."""
_lengths: list[int] = []
"""Of the passwords, each once, the longest first."""
_patterns: set[str] = set()
"""Regular expressions of what else is masked."""
_others: re.Pattern[str] | None = None


def begin(words: Iterable[str]) -> None:
    """Begins a command: only the secrets in its words are known."""
    global _others
    _passwords.clear()
    _lengths.clear()
    _patterns.clear()
    _others = None
    keep(words)


def keep(texts: Iterable[str]) -> None:
    """Notes the secrets in texts that were given: words of a command line, values of a file."""
    global _others
    for text in texts:
        _note(text[:_LONGEST])
    _lengths[:] = sorted({len(password) for password in _passwords}, reverse=True)
    if _patterns:
        _others = re.compile("|".join(sorted(_patterns, key=len, reverse=True)))


def masked(text: str) -> str:
    """The text without the secrets that were given."""
    if _passwords and ("@" in text or "%40" in text):
        text = _without_passwords(text)
    return text if _others is None else _others.sub(MASK, text)


def _without_passwords(text: str) -> str:
    """Looks before each `@`, the last one first, because a password may contain one."""
    end = len(text)
    for found in reversed(list(_ends.finditer(text))):
        at = found.start()
        if at > end:
            continue
        for length in _lengths:
            start = at - length
            if start < 0 or text[start:at] not in _passwords:
                continue
            if start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                continue
            text, end = f"{text[:start]}{MASK}{text[at:]}", start
            break
    return text


def _note(text: str) -> None:
    for password in _passwords_in(text):
        _passwords.update(_spellings(password))
        if _DELIMITERS.search(password):  # other programs divide it elsewhere
            for piece in _DELIMITERS.split(password):
                if len(piece) >= _LEAST_PIECE and not piece.isalpha():  # no word of ours
                    _patterns.add(rf"(?<!\w){re.escape(piece)}(?!\w)")
    for before, value in _of_query(text):
        for spelled in _spellings(value):
            _patterns.add(rf"(?<={re.escape(before)}){re.escape(spelled)}")


def _passwords_in(text: str) -> Iterator[str]:
    """What may be the password of a locator or URL: from a colon to any `@` after it."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        return
    rest = text[scheme.end():]
    while nested := _NESTED.match(rest):
        scheme, rest = nested, rest[nested.end() - 1:]
    bare = rest.lstrip("/")
    user, colon, behind = bare.partition(":")
    if "@" in user:  # a user alone
        name = scheme[0].rstrip(":/").lower()
        without_slashes = bare == rest and name not in _NO_USER
        if without_slashes or name.rpartition("=")[2] in ("http", "https"):
            yield user.partition("@")[0]
        return
    if not colon or re.search(r"[/?#\[]", user) or _PORT.match(behind):
        return
    for at in islice(re.finditer("@", behind), _MOST):
        if at.start():
            yield behind[: at.start()]


def _of_query(text: str) -> Iterator[tuple[str, str]]:
    """Values after a question mark that are, or may be, a token; each with what is before it."""
    address, mark, query = text.partition("?")
    if not mark:
        return
    every = re.search(r"(?:^|=)\s*['\"]?https?:/", address, re.IGNORECASE) is not None
    for part in re.split(r"[&#]", query):
        name, equals, value = part.partition("=")
        if equals and value and (every or _SENSITIVE.search(name)):
            yield f"{name}=", value
        elif every and part and not equals:
            yield "?", part


def _spellings(secret: str) -> set[str]:
    """The secret as messages, documents and URLs spell it."""
    return {
        secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], unquote(secret),
        quote(secret, safe=""),
    }
