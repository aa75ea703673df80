"""For people at a terminal: what is wrong, what it costs, by when, and which command."""

from __future__ import annotations

from reshardctl.diagnosis.report import Report
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.exit import Exit
from reshardctl.render import text_findings, text_plan, text_stream
from reshardctl.render.console import Sheet
from reshardctl.render.context import Context
from reshardctl.render.outcomes import Fixed, Saved, Undoing


def inspect(report: Report, context: Context) -> str:
    """Every finding with its fix, or the reason why there is none."""
    sheet = Sheet(context)
    text_stream.header(sheet, report, context)
    text_findings.findings(sheet, report, context)
    text_findings.last_lines(sheet, report, context)
    return sheet.render()


def plan(
    report: Report, context: Context, *, dry_run: bool = True, saved: Saved | None = None
) -> str:
    """What fix would write, what is so after it, and what it costs."""
    sheet = Sheet(context)
    text_stream.header(sheet, report, context)
    text_plan.plan(sheet, report, context)
    if dry_run:
        text_plan.not_written(sheet, report, context, saved)
    return sheet.render()


def fixed(outcome: Fixed, context: Context) -> str:
    """What was written, where its journal is, and what inspect says now."""
    sheet = Sheet(context)
    text_plan.written(sheet, outcome, context)
    return sheet.render()


def undo(undoing: Undoing, context: Context) -> str:
    """What an undo puts back, and what the next start does then."""
    from reshardctl.render import text_undo

    sheet = Sheet(context)
    text_stream.header(sheet, undoing.now, context)
    text_undo.undo(sheet, undoing, context)
    return sheet.render()


def error(failure: ReshardError, context: Context) -> str:
    """What happened, and the next command."""
    sheet = Sheet(context)
    kind = {Exit.REFUSED: "refused", Exit.HALF_DONE: "half done"}.get(failure.exit, "error")
    sheet.line((f"{kind}: ", "bold red"), failure.what)
    if failure.next:
        sheet.line(failure.next, indent=2)
    if isinstance(failure, HalfDone) and failure.journal:
        sheet.line(f"journal: {failure.journal}", indent=2)
    if failure.exit is Exit.REFUSED and "nothing was written" not in failure.what.lower():
        sheet.line("Nothing was written.", indent=2)
    return sheet.render()


