"""An undo as text: the rows it puts back, and what the next start does then."""

from __future__ import annotations

from reshardctl.diagnosis.rules import Severity
from reshardctl.render.console import LABEL, Part, Sheet
from reshardctl.render.text_findings import SIGNS as SEVERITIES
from reshardctl.render.text_findings import tally
from reshardctl.render.text_plan import SIGNS
from reshardctl.render.text_writes import writes
from reshardctl.render.words import command, count, elsewhere, shards, shortened
from reshardctl.report.changes import changes
from reshardctl.report.results import Undoing


def undo(sheet: Sheet, undoing: Undoing) -> None:
    """The rows, the writes, the findings that come back."""
    if not undoing.steps:
        sheet.line(nothing(undoing))
    for line in undoing.kept:
        sheet.line(f"Stays: {line}")
    if not undoing.steps:
        return
    _table(sheet, undoing)
    sheet.blank()
    if undoing.written is None:
        writes(sheet, undoing.steps)
    _then(sheet, undoing)
    sheet.blank()
    rows = count(sum(len(step.writes) for step in undoing.steps), "row")
    if undoing.written is None:
        none = " Nothing was written." if undoing.dry_run else ""
        sheet.line((f"Undo: {rows} to put back.", "bold"), none)
    if undoing.written is None and undoing.dry_run:
        reached = elsewhere(sheet.context.suggested_command)
        sheet.command(command("undo", undoing.journal, *reached))
    if undoing.written is not None:
        sheet.line((f"Undone. {rows} put back and read back.", "bold"))


def nothing(undoing: Undoing) -> str:
    """The sentence for an undo without a step."""
    what = "plan" if undoing.of_plan else "fix"
    if undoing.kept:
        return f"No row of this {what} has to be put back."
    return f"No write of this {what} is in place."


def _table(sheet: Sheet, undoing: Undoing) -> None:
    rows: list[list[Part]] = []
    for row in changes(undoing.now, undoing.steps):
        now, then = (
            "–" if position is None else shortened(position, sheet.context.verbose)
            for position in (row.now, row.after)
        )
        rows.append([SIGNS[row.action], shards((row.shard,), sheet.context.verbose), now, then])
    sheet.table(["", "shard", "now", "after the undo"], rows)


def _then(sheet: Sheet, undoing: Undoing) -> None:
    if undoing.after is None:
        sheet.labelled(("after", "bold"), "the store holds no position", indent=2)
        return
    sheet.labelled(("after", "bold"), tally(undoing.after), indent=2)
    for finding in undoing.after.findings:
        if finding.severity > Severity.INFO:
            sign, color = SEVERITIES[finding.severity]
            named = shards(finding.shards, sheet.context.verbose)
            finding_line = f"{sign} {finding.severity}  {finding.code}  {finding.name}  {named}"
            sheet.line((finding_line, color), indent=2 + LABEL)
