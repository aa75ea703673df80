"""An undo as text: the rows it puts back, and what the next start does then."""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.diagnosis.rules import Severity
from reshardctl.model import Delete, ShardId, Step, writes_of
from reshardctl.render.content.plan import ASKED, shown_rows, sign_of, together
from reshardctl.render.content.report import SIGNS
from reshardctl.render.content.verdict import tally
from reshardctl.render.content.writes import writes
from reshardctl.render.sheet import LABEL, Sheet
from reshardctl.render.words import (
    capital,
    count,
    once_stopped,
    shards,
    shortened,
    take_back,
)
from reshardctl.report.changes import Action, by_position, changes
from reshardctl.report.results import Undoing


def undo(sheet: Sheet, undoing: Undoing) -> None:
    """The rows, the writes, the findings that come back."""
    if not undoing.steps:
        sheet.line(nothing(undoing))
    for line in undoing.kept:
        sheet.line(f"Stays: {line}")
    if not undoing.steps:
        return
    _undone_table(sheet, undoing)
    sheet.blank()
    if undoing.written is None:
        writes(sheet, undoing.steps)
    _then(sheet, undoing)
    sheet.blank()
    if undoing.written is None:
        none = " Nothing was written." if undoing.dry_run else ""
        wanted = _rows_back(undoing.steps, "to delete", "to put back")
        sheet.line((f"Undo: {wanted}.", "bold"), none)
    if undoing.written is None and undoing.dry_run:
        snapshot, journal = undoing.now.snapshot, undoing.typed or undoing.journal
        back = take_back(snapshot, journal, sheet.context.suggested_command)
        sheet.command(back, once_stopped(snapshot))
    if undoing.written is not None:
        done = _rows_back(undoing.steps, "deleted", "put back")
        sheet.line((f"Undone. {done}, and read again.", "bold"))


def _rows_back(steps: Iterable[Step], deleted: str, put_back: str) -> str:
    """`2 rows to delete, 1 row to put back`, in these words."""
    writes = writes_of(steps)
    gone = sum(isinstance(write.change, Delete) for write in writes)
    numbers = {deleted: gone, put_back: len(writes) - gone}
    return ", ".join(f"{count(n, 'row')} {word}" for word, n in numbers.items() if n)


def question(undoing: Undoing) -> str:
    """`Delete the row of 2, 3; set 1 back to 4963…0412?`: what is asked before an undo."""
    groups: dict[tuple[Action, str | None], list[ShardId]] = {}
    for row in by_position(changes(undoing.now, undoing.steps)):
        position = row.after if row.action is Action.MOVE else None
        groups.setdefault((row.action, position), []).append(row.shard)
    back = [_back(action, position, shards(group)) for (action, position), group in groups.items()]
    more = [f"and {count(len(back) - ASKED, 'more change')}"] if len(back) > ASKED else []
    return capital(shortened("; ".join([*back[:ASKED], *more]))) + "?"


def _back(action: Action, position: str | None, named: str) -> str:
    match action:
        case Action.DELETE:
            return f"delete the row of {named}"
        case Action.CREATE:
            return f"write the row of {named} again"
        case Action.MOVE if position is not None:
            return f"set {named} back to {position}"
        case _:
            return f"put back the row of {named}"


def nothing(undoing: Undoing) -> str:
    """The sentence for an undo without a step."""
    what = "plan" if undoing.of_plan else "fix"
    if undoing.kept:
        return f"No row of this {what} has to be put back."
    return f"No write of this {what} is in place."


def _undone_table(sheet: Sheet, undoing: Undoing) -> None:
    verbose = sheet.context.verbose
    alike: dict[tuple[tuple[str, str], tuple[str, ...]], list[ShardId]] = {}
    changed = by_position(changes(undoing.now, undoing.steps))
    for row in changed:
        cells = tuple(
            "–" if position is None else shortened(position, verbose)
            for position in (row.now, row.after)
        )
        alike.setdefault((sign_of(row), cells), []).append(row.shard)
    rows = together(alike, verbose)
    heads = ("now", "after the undo") if undoing.written is None else ("before", "now")
    wraps = ("shard",) if len(rows) < len(changed) else ()
    shown_rows(sheet, ["", "shard", *heads], rows, wraps=wraps)


def _then(sheet: Sheet, undoing: Undoing) -> None:
    if undoing.after is None:
        sheet.labelled(("after", "bold"), "the store holds no position", indent=2)
        return
    sheet.labelled(("after", "bold"), tally(undoing.after), indent=2)
    for finding in undoing.after.findings:
        if finding.severity > Severity.INFO:
            sign, color = SIGNS[finding.severity]
            named = shards(finding.shards, sheet.context.verbose)
            finding_line = f"{sign} {finding.severity}  {finding.code}  {finding.name}  {named}"
            sheet.line((finding_line, color), indent=2 + LABEL)
