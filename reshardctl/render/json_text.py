"""JSON as every format writes it: in ASCII, so that nothing in it can steer a terminal or a log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from reshardctl.model.times import instant
from reshardctl.render.escape import without_commands


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
