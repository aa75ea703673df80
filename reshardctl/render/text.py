"""For people at a terminal: what is wrong, what it costs, by when, and which command."""

from __future__ import annotations

from typing import assert_never

from reshardctl.diagnosis.discovery import Found
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit
from reshardctl.render import (
    discovered,
    journals,
    pruning,
    text_findings,
    text_plan,
    text_roundup,
    text_stream,
    text_undo,
)
from reshardctl.render.audit.text import audit
from reshardctl.render.console import Sheet
from reshardctl.render.document import Document
from reshardctl.render.failure_words import journal_of, kind_of
from reshardctl.render.journals import Listing
from reshardctl.render.pruning import Pruning
from reshardctl.report.audit import AuditReport
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned, Roundup, Undoing


def write(document: Document) -> str:
    """The result on a sheet as wide as the terminal."""
    sheet = Sheet(document.context)
    match document.result:
        case Report() as report:
            text_stream.header(sheet, report)
            text_findings.findings(sheet, report)
            text_findings.last_lines(sheet, report)
        case Planned(report, dry_run, saved):
            text_stream.header(sheet, report)
            text_plan.plan(sheet, report)
            if dry_run:
                text_plan.not_written(sheet, report, saved)
        case Fixed() as outcome:
            text_plan.written(sheet, outcome)
        case Undoing() as undoing:
            text_stream.header(sheet, undoing.now)
            text_undo.undo(sheet, undoing)
        case AuditReport() as audited:
            audit(sheet, audited)
        case Roundup() as roundup:
            text_roundup.roundup(sheet, roundup)
        case Listing() as listing:
            journals.text(sheet, listing)
        case Pruning() as pruned:
            pruning.text(sheet, pruned)
        case Found() as discovery:
            discovered.text(sheet, discovery)
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
