"""Formats that only spell what a view holds: text, Markdown, lines, JSON and CSV."""

from __future__ import annotations

import csv as table
from collections.abc import Iterable
from io import StringIO
from typing import Any

from reshardctl.render.content.writes import row_diffs
from reshardctl.render.document import Document
from reshardctl.render.escape import ascii_only, cell, escape, indented, one_a_line

Shown = Document[Any]


def text(document: Shown) -> str:
    """For people at a terminal: a sheet as wide as that."""
    from reshardctl.render.sheet import Sheet

    sheet = Sheet(document.context)
    document.screen(sheet)
    return sheet.render()


def markdown(document: Shown) -> str:
    """GitHub-flavoured Markdown to paste into an issue or a runbook."""
    from reshardctl.render.markdown_words import Page

    page = Page(document.context)
    document.runbook(page)
    return page.text()


def concise(document: Shown) -> str:
    """The lines, each made harmless."""
    return _harmless(document.lines(), document)


def diff(document: Shown) -> str:
    """For reviews: the lines as comments, then a diff of each row, in the order of the writes."""
    comments = (f"# {line}" for line in document.lines())
    return _harmless([*comments, *row_diffs(document.rows())], document)


def _harmless(lines: Iterable[str], document: Shown) -> str:
    safe = (escape(line) for line in lines)
    if document.context.ascii:
        safe = (ascii_only(line) for line in safe)
    return "".join(f"{line}\n" for line in safe)


def json(document: Shown) -> str:
    """For programs: one JSON document, in ASCII, so that nothing in it can steer a terminal."""
    return indented(document.data())


def jsonl(document: Shown) -> str:
    """For log stores: one JSON object a line, in ASCII, so that nothing in it can end the line."""
    return one_a_line(document.records())


def csv(document: Shown) -> str:
    """For spreadsheets and `join`: RFC 4180, a line of heads, then the rows.

    What is not known is empty. A text that a spreadsheet would take for a formula has an apostrophe
    in front.
    """
    heads, rows = document.table()
    out = StringIO()
    lines = table.writer(out, lineterminator="\n")
    lines.writerow(heads)
    lines.writerows([_cell(value) for value in row] for row in rows)
    return ascii_only(out.getvalue()) if document.context.ascii else out.getvalue()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return cell(value)
        case float():
            return f"{value:.3f}".rstrip("0").rstrip(".")
        case _:
            return str(value)
