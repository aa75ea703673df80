"""The physical writes: every attribute set, removed or added to, and the guard on each row.

Rows before and after their writes are also lines of a unified diff. A row is shown as a file with
one line for each attribute, by name: its value as JSON, in the types of DynamoDB. A text of several
lines has a line for each. A row that is created comes from `/dev/null`, one that is deleted goes
there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff

from reshardctl.model import (
    Attributes,
    AttributeValue,
    Create,
    Delete,
    Image,
    Step,
    Update,
    Write,
    changed,
    writes_of,
)
from reshardctl.render.context import Context
from reshardctl.render.escape import cut
from reshardctl.render.sheet import LABEL, Sheet
from reshardctl.render.words import count, numbers_elided, write_words
from reshardctl.report.results import Elsewhere

SHOWN = 4
"""Writes shown in full, or steps by their titles; `-v` shows all."""
OF_MANY = 2
"""Steps that are shown where there are more than `SHOWN`."""
SHORT, LONG = 120, 4000
"""Characters of a value that are shown, and with `-v`."""


def writes(sheet: Sheet, steps: Sequence[Step], *, whole: bool = False) -> None:
    """Step by step, in the order in which they are written.

    whole: whether the first writes are shown with what they set, as `-v` shows all of them.
    """
    label, left, verbose = "writes", SHOWN if whole else 0, sheet.context.verbose
    listed = len(steps) if len(steps) <= SHOWN else OF_MANY
    for step in steps if verbose or whole else steps[:listed]:
        if whole and not (verbose or left > 0):
            break
        of_many = len(step.writes) > 1 and ", in one " not in step.title
        together = ", in one transaction" if of_many else ""
        sheet.labelled((label, "bold"), f"{step.title}{together}", indent=2)
        label = ""
        shown = step.writes if verbose else step.writes[:left]
        left -= len(shown)
        for write in shown:
            lines = [*write_lines(write, verbose), write_words(write)]
            for index, line in enumerate(line for line in lines if line):
                sheet.line(line, indent=2 + LABEL + (2 if index else 0))
    if verbose:
        return
    total = sum(len(step.writes) for step in steps)
    hidden, kind = (total - SHOWN, "write") if whole else (len(steps) - listed, "step")
    if hidden > 0:
        sheet.line(f"and {count(hidden, f'more {kind}')}; -v shows all", indent=2 + LABEL)


def elsewhere_lines(file: Elsewhere, context: Context) -> list[str]:
    """What a journal or a plan that was not made here would write, and where."""
    sheet = Sheet(context)
    sheet.line((f"{file.name} was not made here.", "bold"), " It names what is written, and where:")
    for label, value in (
        ("store", file.locator), ("server", file.host), ("stream", file.stream),
    ):
        if value:
            sheet.labelled((label, "bold"), value, indent=2)
    writes(sheet, file.steps, whole=True)
    return sheet.render().splitlines()


def write_lines(write: Write, verbose: bool) -> list[str]:
    """What is done to one row, its guard first."""
    guard = f"only if {_guard(write.guard, verbose)} are as read"
    match write.change:
        case Create(attributes):
            rest = {n: v for n, v in attributes.items() if v != {"S": write.key}}
            return [f"create {write.key} only if absent", f"set {_pairs(rest, verbose)}"]
        case Delete():
            return [f"delete {write.key} {guard}"]
        case Update(values, remove, add):
            lines = [f"update {write.key} {guard}", f"set {_pairs(values, verbose)}"]
            if remove:
                lines.append(f"remove {_listed(remove)}")
            if add:
                lines.append("add " + ", ".join(f"{n} +{by}" for n, by in add.items()))
            return lines


def _guard(names: Sequence[str], verbose: bool) -> str:
    """The guarded attributes, the first two of them unless `verbose`."""
    if verbose or len(names) <= 3:
        return _listed(names)
    return f"{_listed(names[:2])} and {len(names) - 2} more attributes"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _pairs(values: Attributes, verbose: bool) -> str:
    return ", ".join(f"{n} = {_value(v, verbose)}" for n, v in values.items())


def _value(value: AttributeValue, verbose: bool) -> str:
    """The value as text, with numbers elided unless `verbose`.

    Shard ids stay whole, because they are what is written. A long text (a whole file) is shown by
    its beginning; the plan's file holds all of it.
    """
    whole = spelled(value)
    if verbose:
        return cut(whole, LONG)
    if len(whole) <= LONG:
        return cut(numbers_elided(whole), SHORT)
    return f"{numbers_elided(whole[:LONG])[:SHORT]}… ({len(whole)} characters)"


def spelled(value: AttributeValue) -> str:
    """DynamoDB JSON as one word: text and numbers bare, sets in braces, the rest as it is."""
    ((kind, body),) = value.items()
    if kind in ("S", "N"):
        return str(body)
    if kind == "B":
        return f"({count(len(body) * 3 // 4 - body[-2:].count('='), 'byte')})"
    if kind in ("SS", "NS"):
        return "{" + ", ".join(body) + "}"
    return json.dumps(dict(value), sort_keys=True)


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
