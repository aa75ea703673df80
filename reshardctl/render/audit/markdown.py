"""An audit to paste into an issue: findings, every shard's numbers, what was not seen."""

from __future__ import annotations

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
from reshardctl.render.markdown_words import Page, code, prose
from reshardctl.render.words import sentence
from reshardctl.report.audit import AuditReport

ROWS = 200


def audit(page: Page, report: AuditReport) -> None:
    """The whole page."""
    page.heading(1, f"Audit: {code(report.facts.sink)}")
    stream = report.lineage.stream
    page.table(["", ""], [
        ["stream", code(stream.arn)],
        ["created", instant(stream.created)],
        ["sink", prose(", ".join(sink_words(report)))],
        *([["consumer", code(report.stored.consumer)]] if report.stored is not None else []),
    ])
    page.heading(2, "Findings")
    now = report.facts.taken
    page.findings(total(report), "next", [
        (finding, (finding.what, finding.costs), by_when(finding, now), finding.helps)
        for finding in report.findings
    ])
    if report.keys is not None:
        page.heading(2, "Partition keys with the most missing records")
        page.bullets(prose(line) for line in listed_keys(report) or ["none"])
    _shards(page, report)
    page.heading(2, "Coverage and notes")
    page.bullets(prose(line) for line in remarks(report))
    if report.ways:
        page.heading(2, "Next")
    for way in report.ways:
        page.line(prose(f"{sentence(way.why).removesuffix('.')}:"))
        page.command(quoted(way))


def _shards(page: Page, report: AuditReport) -> None:
    shown, left = worst_first(report, len(report.coverages) if page.context.verbose else ROWS)
    if not shown:
        return
    page.heading(2, "Shards")
    page.table(heads(report), [
        [prose(cell) for cell in cells(report, coverage)] for coverage in shown
    ])
    if left:
        page.line(f"And {left:,} more shards.")
