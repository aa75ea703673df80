"""An audit to paste into an issue: findings, every shard's numbers, what was not seen."""

from __future__ import annotations

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.diagnosis.rules import Finding
from reshardctl.model.times import instant
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
from reshardctl.render.context import Context
from reshardctl.render.markdown_words import Page, code, prose
from reshardctl.render.words import sentence, shards, shortened

ROWS = 200


def audit(report: AuditReport, context: Context) -> str:
    """The whole page."""
    page = Page(plain=context.ascii)
    page.heading(1, f"Audit: {code(report.facts.sink)}")
    stream = report.lineage.stream
    page.table(["", ""], [
        ["stream", code(stream.arn)],
        ["created", instant(stream.created)],
        ["sink", prose(", ".join(sink_words(report)))],
        *([["consumer", code(report.stored.consumer)]] if report.stored is not None else []),
    ])
    page.heading(2, "Findings")
    page.line(total(report))
    if report.findings:
        names = ["severity", "rule", "shards", "what", "by when", "next"]
        page.table(names, [_finding(report, f, context.verbose) for f in report.findings])
    if report.keys is not None:
        page.heading(2, "Partition keys that lack most")
        page.bullets(prose(line) for line in listed_keys(report) or ["none"])
    _shards(page, report, context)
    page.heading(2, "What was seen")
    page.bullets(prose(line) for line in remarks(report))
    if report.ways:
        page.heading(2, "Next")
    for way in report.ways:
        page.line(prose(f"{sentence(way.why).removesuffix('.')}:"))
        page.command(quoted(way))
    return page.text()


def _finding(report: AuditReport, finding: Finding, verbose: bool) -> list[str]:
    said = [sentence(shortened(part, verbose)) for part in (finding.what, finding.costs) if part]
    return [
        str(finding.severity), f"{finding.code} {finding.name}",
        prose(shards(finding.shards, verbose)) or "–", prose(" ".join(said)),
        prose(by_when(finding, report.facts.taken)) or "–", prose(finding.helps) or "–",
    ]


def _shards(page: Page, report: AuditReport, context: Context) -> None:
    shown, left = worst_first(report, len(report.coverages) if context.verbose else ROWS)
    if not shown:
        return
    page.heading(2, "Shards")
    page.table(
        list(heads(report)), [[prose(cell) for cell in cells(report, one)] for one in shown]
    )
    if left:
        page.line(f"And {left:,} more shards with less to say.")
