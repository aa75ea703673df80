"""For people at a terminal: the sink, what is wrong with it, and every shard's numbers."""

from __future__ import annotations

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.render.audit.words import (
    by_when,
    cells,
    heads,
    listed_keys,
    quoted,
    remarks,
    sink_words,
    total,
    worst_first,
)
from reshardctl.render.console import Part, Sheet
from reshardctl.render.context import Context
from reshardctl.render.text_findings import BODY, SIGNS
from reshardctl.render.text_stream import stream_line
from reshardctl.render.words import sentence, shards, shortened

ROWS = 40
"""Shards that the table shows without -v."""
SILENT = frozenset({"too many", "out of order"})
"""Columns that are left out where there is nothing in them."""


def audit(report: AuditReport, context: Context) -> str:
    """Everything."""
    sheet = Sheet(context)
    _header(sheet, report)
    for index, finding in enumerate(report.findings):
        if finding.severity is Severity.INFO:
            if index and report.findings[index - 1].severity is not Severity.INFO:
                sheet.blank()
            _leftover(sheet, finding, context)
        else:
            sheet.blank()
            _finding(sheet, report, finding, context)
    _keys(sheet, report)
    sheet.blank()
    _table(sheet, report, context)
    sheet.blank()
    for line in remarks(report):
        sheet.line(line)
    sheet.blank()
    sheet.line((total(report), "bold"))
    _next(sheet, report)
    return sheet.render()


def _header(sheet: Sheet, report: AuditReport) -> None:
    stream_line(sheet, report.lineage, report.facts.taken)
    sheet.fields((report.facts.sink, "bold"), *sink_words(report))
    if report.stored is not None:
        sheet.fields(report.stored.consumer)
    sheet.blank()


def _finding(sheet: Sheet, report: AuditReport, finding: Finding, context: Context) -> None:
    sign, color = SIGNS[finding.severity]
    head: list[Part] = [
        (f"{sign} {finding.severity}", color), f"  {finding.code}  ", (finding.name, "bold"),
    ]
    sheet.spread(head, (by_when(finding, report.facts.taken), color), indent=2)
    sheet.blank()
    named = shards(finding.shards, context.verbose)
    what = f"{named}: {finding.what}" if named else finding.what
    said = [what, finding.costs, finding.helps]
    for line in said:
        if line:
            sheet.line(sentence(shortened(line, context.verbose)), indent=BODY)


def _leftover(sheet: Sheet, finding: Finding, context: Context) -> None:
    sign, color = SIGNS[finding.severity]
    named = shards(finding.shards, context.verbose)
    what = f"{named}: {finding.what}" if named else finding.what
    more = "; ".join(part for part in (what, finding.costs, finding.helps) if part)
    sheet.line(
        (f"{sign} {finding.severity}", color), f"  {finding.code}  ", (finding.name, "bold"),
        f"  {shortened(more, context.verbose)}", indent=2,
    )


def _keys(sheet: Sheet, report: AuditReport) -> None:
    if report.keys is None:
        return
    sheet.blank()
    sheet.line("Partition keys of missing records, those that lack most first:", indent=2)
    for line in listed_keys(report) or ["none"]:
        sheet.line(line, indent=BODY)


def _table(sheet: Sheet, report: AuditReport, context: Context) -> None:
    most = len(report.coverages) if context.verbose else ROWS
    shown, left = worst_first(report, most)
    if not shown:
        return
    names, rows = list(heads(report)), [cells(report, one) for one in shown]
    kept = _kept(names, rows)
    sheet.table(
        [names[index] for index in kept],
        [[_marked(row[index], names[index]) for index in kept] for row in rows], indent=2,
    )
    if left:
        sheet.line(f"And {left:,} more shards with less to say; -v shows all.", indent=2)


def _kept(names: list[str], rows: list[list[str]]) -> list[int]:
    """Places of the columns that have something to say."""
    return [
        index for index, name in enumerate(names)
        if name not in SILENT or any(row[index] not in ("0", "?") for row in rows)
    ]


def _marked(cell: str, head: str) -> Part:
    if head == "missing" and cell not in ("0", "?"):
        return (cell, "red")
    if head in ("too many", "out of order") and cell not in ("0", "?"):
        return (cell, "yellow")
    return cell


def _next(sheet: Sheet, report: AuditReport) -> None:
    for way in report.ways:
        sheet.line((way.why, "dim"), indent=2)
        sheet.command(quoted(way), indent=4)
