"""JSON as every format writes it: in ASCII, so that nothing in it can steer a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from reshardctl.model.times import instant


def indented(document: Any) -> str:
    """A whole document."""
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=True) + "\n"


def one_a_line(values: Iterable[Any]) -> str:
    """Each value on a line of its own, which nothing in it can end."""
    return "".join(
        json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":")) + "\n"
        for value in values
    )


def time_json(seconds: float | None) -> str | None:
    """Unix seconds as ISO 8601 in UTC."""
    return None if seconds is None else instant(seconds)
