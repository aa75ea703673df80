"""A runbook for several consumers: the table, then the runbook of each that has findings."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.render import markdown
from reshardctl.render.context import Context
from reshardctl.render.many.roundup import Entry, Roundup
from reshardctl.render.many.words import HEADS, failed, hidden, remarks, row, total
from reshardctl.render.markdown_words import Page, code, prose


def roundup(shown: Roundup, context: Context) -> str:
    """Headings of a consumer's own runbook are one level down."""
    page = Page(plain=context.ascii)
    page.heading(1, "Consumers side by side")
    for stream, entries in shown.streams().items():
        page.heading(2, f"Stream {code(stream)}")
        page.table(list(HEADS), [_row(entry) for entry in entries])
    page.line(prose(total(shown)))
    return page.text() + "".join(_entry(entry, context) for entry in shown.entries)


def _row(entry: Entry) -> list[str]:
    name, *cells = row(entry)
    return [code(name), *(prose(cell) for cell in cells)]


def _entry(entry: Entry, context: Context) -> str:
    text = ""
    if entry.report is not None and entry.report.findings:
        own = replace(context, suggested_command=entry.suggested_command, exit=entry.exit)
        text = "\n" + markdown.inspect(entry.report, own, below=1)
    page = Page(plain=context.ascii)
    lines = [
        *(f"Suppressed: {hidden(finding, by)}" for finding, by in entry.sifted.hidden),
        *remarks(entry),
    ]
    if entry.failure is not None:
        lines = [f"Could not tell: {failed(entry)[0]}", *failed(entry)[1:], *lines]
    if entry.report is not None and not text:
        lines += [f"Note: {caveat}" for caveat in entry.report.caveats]
    if lines and not text:
        page.heading(2, code(entry.name))
    if lines:
        page.bullets(prose(line) for line in lines)
        text += "\n" + page.text()
    return text
