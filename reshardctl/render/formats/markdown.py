"""GitHub-flavoured Markdown to paste into an issue or a runbook."""

from __future__ import annotations

from reshardctl.errors import ReshardError
from reshardctl.render.content import runbook
from reshardctl.render.content.audit import audit_markdown
from reshardctl.render.content.runbook import fixed, runbook_page, undo
from reshardctl.render.document import Document
from reshardctl.render.markdown_words import Page, code, prose
from reshardctl.render.words import journal_of, kind_of
from reshardctl.report.audit import AuditReport
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned, Roundup, Undoing


def write(document: Document) -> str:
    """The result as one page. TypeError for lists, which have no page."""
    page = Page(document.context)
    match document.result:
        case Report() as report:
            runbook_page(page, report)
        case Planned(report, dry_run, saved):
            runbook_page(page, report, saved)
            if dry_run:
                page.line("Nothing was written.")
        case Fixed() as outcome:
            fixed(page, outcome)
        case Undoing() as undoing:
            undo(page, undoing)
        case AuditReport() as audited:
            audit_markdown(page, audited)
        case Roundup() as roundup:
            runbook.roundup(page, roundup)
        case ReshardError() as failure:
            _error(page, failure)
        case other:
            raise TypeError(f"{type(other).__name__} is not shown as a page")
    return page.text()


def _error(page: Page, failure: ReshardError) -> None:
    """What happened, and what next."""
    page.line(f"**{kind_of(failure).capitalize()}:** {prose(failure.what)}")
    if failure.next:
        page.line(f"Next: {prose(failure.next)}")
    if journal := journal_of(failure):
        page.line(f"Journal: {code(journal)}")
