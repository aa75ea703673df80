"""A runbook for several consumers: the table, then the runbook of each that has findings."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.render.markdown_report import runbook_page
from reshardctl.render.markdown_words import Page, code, prose
from reshardctl.render.roundup_words import HEADS, failed, hidden, names_of, remarks, row, total
from reshardctl.report.results import Entry, Roundup


def roundup(page: Page, shown: Roundup) -> None:
    """Headings of a consumer's own runbook are one level down."""
    page.heading(1, "Consumers side by side")
    for stream, entries in shown.streams().items():
        name, configured = names_of(stream, entries)
        more = f", configured as {code(configured)}" if configured else ""
        page.heading(2, f"Stream {code(name)}{more}")
        page.table(HEADS, [_row(entry) for entry in entries])
    page.line(prose(total(shown)))
    for entry in shown.entries:
        _entry(page, entry)


def _row(entry: Entry) -> list[str]:
    name, *cells = row(entry)
    return [code(name), *(prose(cell) for cell in cells)]


def _entry(page: Page, entry: Entry) -> None:
    lines = [
        *(f"Suppressed: {hidden(finding, by)}" for finding, by in entry.sifted.hidden),
        *remarks(entry),
    ]
    if entry.report is not None and entry.report.findings:
        own = replace(
            page.context, suggested_command=entry.suggested_command, exit=entry.exit
        )
        runbook_page(page.part(own), entry.report)
    else:
        if entry.failure is not None:
            why, *others = failed(entry)
            lines = [f"Could not tell: {why}", *others, *lines]
        elif entry.report is not None:
            lines += [f"Note: {caveat}" for caveat in entry.report.caveats]
        if lines:
            page.heading(2, code(entry.name))
    page.bullets(prose(line) for line in lines)
