"""Rows before and after their writes, as lines of a unified diff.

A row is shown as a file with one line for each attribute, by name: its value as JSON, in the types
of DynamoDB. A text of several lines has a line for each. A row that is created comes from
`/dev/null`, one that is deleted goes there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import unified_diff

from reshardctl.model import Image, Step, changed, writes_of

ABSENT = "/dev/null"
CONTEXT = 1 << 30
"""Lines around a change: all of the row."""


def row_diffs(steps: Iterable[Step]) -> Iterator[str]:
    """The lines of one diff for each row; of a row that is written twice, of both together."""
    rows: dict[str, tuple[Image | None, Image | None]] = {}
    for write_ in writes_of(steps):
        before, now = rows.get(write_.key, (write_.before, write_.before))
        rows[write_.key] = before, changed(now, write_)
    for key, (before, after) in rows.items():
        yield from unified_diff(
            _lines(before), _lines(after), _name(key, before), _name(key, after), n=CONTEXT,
            lineterm="",
        )


def _name(key: str, row: Image | None) -> str:
    return ABSENT if row is None else key


def _lines(row: Image | None) -> list[str]:
    if row is None:
        return []
    return [line for name in sorted(row.attributes) for line in _attribute(name, row)]


def _attribute(name: str, row: Image) -> Iterator[str]:
    ((kind, body),) = row.attributes[name].items()
    parts = body.splitlines(keepends=True) if kind == "S" else []
    if len(parts) < 2:
        yield f"{name} = {json.dumps({kind: body}, sort_keys=True)}"
        return
    for sign, part in zip(["=", *"+" * len(parts)], parts, strict=False):
        yield f"{name} {sign} {json.dumps({kind: part})}"
