"""Text from outside, made harmless for terminals, pipes, logs of CI and spreadsheets.

A row, a file's name or an answer of a server may hold anything: escape sequences that steer a
terminal, line ends that fake a finding, bidi overrides that turn a number around (CVE-2021-42574),
marks that pile up, commands to the program that reads the log, and a password that was given.

JSON is written in ASCII by every format, so that nothing in it can steer a terminal or a log.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from reshardctl.given_secrets import masked
from reshardctl.model.times import instant

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TAME = re.compile(r"[ -~]*\Z")
_COMMAND = re.compile(
    r"(?<=:):(?=(?:add-(?:mask|matcher|path)|debug|echo|(?:end)?group|error|internal-set-repo-path"
    r"|notice|remove-matcher|save-state|set-(?:env|output)|stop-commands|warning)(?: |::|\Z))"
    r"|(?<=#)#(?=[a-z]*\[)", re.IGNORECASE,
)
"""What a program that reads a log takes for its own: `::error …::` where a line begins and
`##[error]` anywhere (GitHub's runner, ActionCommand.cs), `##vso[task.setvariable]` anywhere (Azure
Pipelines, Command.cs). A line may begin at any word, because long ones are wrapped."""
_FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What begins a formula (OWASP, "CSV Injection"); tabs and line ends are escaped."""

_PLAIN = str.maketrans({
    "–": "-", "—": "-", "·": "*", "…": "...", "≤": "<=", "≥": ">=", "✗": "x", "✓": "=", "→": "->",
    "─": "-", "│": "|", "┬": "+", "├": "|", "└": "`", "┐": "+", "┴": "+", "┤": "+", "’": "'",
})
"""Look-alikes of our own signs; those that lines are drawn with keep their width."""


def escape(text: str) -> str:
    r"""The text with every invisible character replaced by its escape sequence, as in `\x1b`.

    So is the second sign of what begins a command in a log of CI. A password is masked.
    """
    text = without_commands(masked(text))
    if _TAME.match(text):
        return text
    return "".join(c if _visible(c) else _spelled(c) for c in text)


def without_commands(text: str, spelled: str = "\\x{:02x}") -> str:
    """The text without what begins a command in a log of CI. spelled: how a sign is written."""
    if "::" not in text and "##" not in text:
        return text
    return _COMMAND.sub(lambda sign: spelled.format(ord(sign[0])), text)


def cell(text: str) -> str:
    """The text for CSV: escaped, and with an apostrophe before what would be a formula."""
    shown = escape(text)
    return f"'{shown}" if shown.startswith(_FORMULAS) else shown


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
    """The text, or its beginning and how long it was where that is shorter."""
    beginning = f"{text[:limit]}… ({len(text)} characters)"
    return text if len(text) <= max(limit, len(beginning)) else beginning


def indented(document: Any) -> str:
    """A whole document."""
    return _harmless(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=True)) + "\n"


def compact(value: Any) -> str:
    """A value on one line, which nothing in it can end."""
    return _harmless(
        json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    )


def one_a_line(values: Iterable[Any]) -> str:
    """Each value on a line of its own, which nothing in it can end."""
    return "".join(f"{compact(value)}\n" for value in values)


def _harmless(text: str) -> str:
    """The same values: a sign that could begin a command to CI as JSON's own escape."""
    return without_commands(text, "\\u{:04x}")


def time_json(seconds: float | None) -> str | None:
    """Unix seconds as ISO 8601 in UTC."""
    return None if seconds is None else instant(seconds)
