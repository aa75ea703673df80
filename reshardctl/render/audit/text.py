"""For people at a terminal: the sink, what is wrong with it, and every shard's numbers."""

from __future__ import annotations

from reshardctl.diagnosis.rules import Finding
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
from reshardctl.render.text_findings import BODY, head, listed
from reshardctl.render.text_stream import stream_line
from reshardctl.render.words import about, sentence, shortened
from reshardctl.report.audit import AuditReport

ROWS = 40
"""Shards that the table shows without -v."""
SILENT = frozenset({"too many", "out of order"})
"""Columns that are left out where there is nothing in them."""


def audit(sheet: Sheet, report: AuditReport) -> None:
    """Everything."""
    verbose = sheet.context.verbose

    def whole(finding: Finding) -> None:
        head(sheet, finding, by_when(finding, report.facts.taken))
        for part in _parts(finding, verbose):
            sheet.line(sentence(shortened(part, verbose)), indent=BODY)

    def brief(finding: Finding) -> str:
        return shortened("; ".join(_parts(finding, verbose)), verbose)

    _header(sheet, report)
    listed(sheet, report.findings, whole, brief)
    _keys(sheet, report)
    sheet.blank()
    _table(sheet, report)
    sheet.blank()
    for line in remarks(report):
        sheet.line(line)
    sheet.blank()
    sheet.line((total(report), "bold"))
    for way in report.ways:
        sheet.line((way.why, "dim"), indent=2)
        sheet.command(quoted(way), indent=4)


def _header(sheet: Sheet, report: AuditReport) -> None:
    stream_line(sheet, report.lineage, report.facts.taken)
    sheet.fields((report.facts.sink, "bold"), *sink_words(report))
    if report.stored is not None:
        sheet.fields(report.stored.consumer)
    sheet.blank()


def _parts(finding: Finding, verbose: bool) -> list[str]:
    return [part for part in (about(finding, verbose), finding.costs, finding.helps) if part]


def _keys(sheet: Sheet, report: AuditReport) -> None:
    if report.keys is None:
        return
    sheet.blank()
    sheet.line("Partition keys with missing records, the largest number first:", indent=2)
    for line in listed_keys(report) or ["none"]:
        sheet.line(line, indent=BODY)


def _table(sheet: Sheet, report: AuditReport) -> None:
    most = len(report.coverages) if sheet.context.verbose else ROWS
    shown, left = worst_first(report, most)
    if not shown:
        return
    names, rows = list(heads(report)), [cells(report, coverage) for coverage in shown]
    kept = _kept(names, rows)
    sheet.table(
        [names[index] for index in kept],
        [[_marked(row[index], names[index]) for index in kept] for row in rows], indent=2,
    )
    if left:
        sheet.line(f"And {left:,} more shards; -v shows all.", indent=2)


def _kept(names: list[str], rows: list[list[str]]) -> list[int]:
    """Indexes of the columns that have anything in them."""
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
