"""For people at a terminal: what is wrong, what it costs, by when, and which command."""

from __future__ import annotations

from typing import assert_never

from reshardctl.diagnosis.discovery import Found
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit
from reshardctl.render.content import roundup as text_roundup
from reshardctl.render.content.audit import audit
from reshardctl.render.content.journals import Listing, Pruning, discovered_text, pruning_text, text
from reshardctl.render.content.plan import not_written, plan, undo, written
from reshardctl.render.content.report import findings, header, last_lines
from reshardctl.render.document import Document
from reshardctl.render.sheet import Sheet
from reshardctl.render.words import journal_of, kind_of
from reshardctl.report.audit import AuditReport
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned, Roundup, Undoing


def write(document: Document) -> str:
    """The result on a sheet as wide as the terminal."""
    sheet = Sheet(document.context)
    match document.result:
        case Report() as report:
            header(sheet, report)
            findings(sheet, report)
            last_lines(sheet, report)
        case Planned(report, dry_run, saved):
            header(sheet, report)
            plan(sheet, report)
            if dry_run:
                not_written(sheet, report, saved)
        case Fixed() as outcome:
            written(sheet, outcome)
        case Undoing() as undoing:
            header(sheet, undoing.now)
            undo(sheet, undoing)
        case AuditReport() as audited:
            audit(sheet, audited)
        case Roundup() as roundup:
            text_roundup.roundup(sheet, roundup)
        case Listing() as listing:
            text(sheet, listing)
        case Pruning() as pruned:
            pruning_text(sheet, pruned)
        case Found() as discovery:
            discovered_text(sheet, discovery)
        case ReshardError() as failure:
            _error(sheet, failure)
        case _ as other:
            assert_never(other)
    return sheet.render()


def _error(sheet: Sheet, failure: ReshardError) -> None:
    """What happened, and the next command."""
    sheet.line((f"{kind_of(failure)}: ", "bold red"), failure.what)
    if failure.next:
        sheet.line(failure.next, indent=2)
    if journal := journal_of(failure):
        sheet.line(f"journal: {journal}", indent=2)
    if failure.exit is Exit.REFUSED and "nothing was written" not in failure.what.lower():
        sheet.line("Nothing was written.", indent=2)
