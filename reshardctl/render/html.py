"""Reports and audits as HTML pages of their own, also for notebooks.

No script and nothing from elsewhere; a policy in each page forbids both. A page of a report has
findings, picture and table of a consumer. A page of an audit has findings, the map of the shards,
what was read, lost and doubled when. Its size is bounded: a thousand shards make a page of a few
megabytes at most. In a notebook it stands in a frame, so that no style leaks either way.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from reshardctl.auditing.facts import Facts
from reshardctl.diagnosis.rules import Finding
from reshardctl.errors import ReshardError
from reshardctl.lineage import Lineage
from reshardctl.model.times import instant
from reshardctl.render import markup
from reshardctl.render.charts import bars, chart, picture, span
from reshardctl.render.content.audit import (
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
from reshardctl.render.costs import absolute
from reshardctl.render.formats import write
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import chart_of
from reshardctl.render.graph.html import SHARDS, drawn
from reshardctl.render.markup import FINDING_STYLE as FINDING
from reshardctl.render.markup import PAGE, drawn_finding, frame, html_page, legend, safe, table_head
from reshardctl.render.words import sentence
from reshardctl.report.audit import AuditReport, ShardCoverage, Stored, judge_sink
from reshardctl.report.report import Report
from reshardctl.report.results import Entry

NOTHING = "No findings."


def report_page(entry: Entry) -> str:
    """The page of one consumer, ASCII; its report, or why there is none."""
    return html_page(entry.name, _consumer(entry), f"{PAGE}{markup.FINDING_STYLE}")


def _consumer(entry: Entry) -> Iterator[str]:
    yield f"<h1>{safe(entry.name)}</h1>"
    if entry.report is not None:
        yield from _report(entry.report)
    if entry.failure is not None:
        yield from _failed(entry.failure)


def _report(report: Report) -> Iterator[str]:
    snapshot = report.snapshot
    stream = snapshot.lineage.stream
    yield f"<p>{safe(stream.arn)} &#183; read {safe(instant(snapshot.now))}</p>"
    if not report.findings:
        yield f"<p>{NOTHING}</p>"
    for finding in report.findings:
        yield from markup.drawn_finding(finding, _when(finding))
    chart = chart_of(snapshot.lineage, snapshot.now, report)
    if chart.crash:
        yield f'<p class="crash">{safe(chart.crash)}</p>'
    yield from drawn(chart)


def _when(finding: Finding) -> str:
    if finding.deadline is None or not finding.effects:
        return ""
    return absolute(finding.effects, finding.deadline)


def _failed(failure: ReshardError) -> Iterator[str]:
    yield f'<p class="bad">{safe(sentence(failure.what))}</p>'
    if failure.next:
        yield f"<p>{safe(sentence(failure.next))}</p>"


CHARTS = 60
"""Shards with a chart of their own, those with the most missing records first."""
ROWS = 1000
TALL, LOW = 130.0, 40.0

STYLE = """
h2{font-size:15px;margin:22px 0 6px}
.one{display:flex;align-items:center;gap:12px;margin:2px 0}
.one>span{width:150px;flex:none;font-variant-numeric:tabular-nums}
.reshard path.rows{fill:var(--open)}.reshard path.extra{fill:var(--unread)}
.reshard path.missing{fill:var(--lost)}
.reshard path.some{fill-opacity:.7}.reshard path.few{fill-opacity:.4}
pre{margin:2px 0 10px;padding:6px 10px;background:#f2f5f8;white-space:pre-wrap;
overflow-wrap:anywhere}.tall{max-height:85vh;overflow:auto}
.reshard .gone{fill:url(#reshard-gone)}.reshard .faint{stroke:var(--faint)}
td.bad,td.much{font-weight:600}td.much{color:#b46a00}
@media (prefers-color-scheme:dark){td.much{color:#ffb52e}pre{background:#1c242d}}
"""

_BAR = '<path class="{}" d="M1 1h24v12h-24z"/>'
_GONE = '<rect class="gone" x="1" y="1" width="24" height="12"/>'
LEGEND = (
    (_BAR.format("missing"), "all or most of it missing"),
    (_BAR.format("missing some"), "some missing"), (_BAR.format("missing few"), "few missing"),
    (_BAR.format("extra"), "rows too many"), (_GONE, "cannot be known"),
)
OVER_TIME = (
    (_BAR.format("rows"), "in the sink"), (_BAR.format("missing"), "missing in the sink"),
    (_BAR.format("extra"), "rows too many"),
)


def audit_page(report: AuditReport) -> str:
    """The page of an audit, ASCII."""
    return html_page(f"Audit of {report.facts.sink}", body(report), f"{PAGE}{FINDING}{STYLE}")


def body(report: AuditReport) -> Iterator[str]:
    """What is on the page."""
    yield f"<h1>{safe(report.facts.sink)}</h1>"
    facts = [report.lineage.stream.arn, *sink_words(report)]
    if report.stored is not None:
        facts.append(report.stored.consumer)
    yield f"<p>{' &#183; '.join(safe(fact) for fact in facts)}</p>"
    yield f'<p class="when">{safe(total(report))}</p>'
    for finding in report.findings:
        yield from drawn_finding(finding, by_when(finding, report.facts.taken))
    yield from (f"<p>{safe(line)}</p>" for line in remarks(report))
    if report.ways:
        yield "<h2>Next</h2>"
        yield from (
            f"<p>{safe(sentence(way.why))}</p><pre>{safe(' '.join(quoted(way)))}</pre>"
            for way in report.ways
        )
    if report.keys is not None:
        yield "<h2>Partition keys with the most missing records</h2><ul>"
        yield from (f"<li>{safe(line)}</li>" for line in listed_keys(report) or ["none"])
        yield "</ul>"
    ends = span(report.facts.buckets)
    if ends is not None:
        yield from _all_over_time(report, ends)
    yield "<h2>Map: hash keys down, time across; what is missing where</h2>"
    yield from legend((*SHARDS, *LEGEND))
    yield from ('<div class="picture scroll tall">', picture(report), "</div>")
    if ends is not None:
        yield from _each_over_time(report, ends)
    yield from _table(report)


def _all_over_time(report: AuditReport, ends: tuple[float, float]) -> Iterator[str]:
    yield "<h2>All shards over time, by arrival (UTC)</h2>"
    yield from legend(OVER_TIME)
    every = bars(report.facts.buckets, ends)
    yield f'<div class="scroll">{chart(every, TALL, "all shards over time")}</div>'


def _each_over_time(report: AuditReport, ends: tuple[float, float]) -> Iterator[str]:
    """One by one on the axis of all; each as high as its own highest bar."""
    by_shard: dict[str, list[int]] = {}
    for index, bucket in enumerate(report.facts.buckets):
        by_shard.setdefault(bucket.shard, []).append(index)
    timed = [coverage for coverage in report.coverages if coverage.shard in by_shard]
    yield "<h2>Shard by shard, each as high as its own highest bar</h2>"
    shown = _worst(timed)
    for coverage in shown:
        own = bars((report.facts.buckets[p] for p in by_shard[coverage.shard]), ends)
        name = labels.name(coverage.shard)
        yield f'<div class="one"><span><b>{safe(name)}</b> {safe(_lacks(coverage))}</span>'
        yield f"{chart(own, LOW, name, axis=coverage is shown[-1])}</div>"
    if len(timed) > CHARTS:
        yield f"<p>And {len(timed) - CHARTS:,} more shards.</p>"


def _worst(coverages: list[ShardCoverage]) -> list[ShardCoverage]:
    if len(coverages) <= CHARTS:
        return coverages
    ranked = sorted(coverages, key=lambda shard: (-(shard.missing or 0), -shard.extra, -shard.rows))
    kept = {coverage.shard for coverage in ranked[:CHARTS]}
    return [coverage for coverage in coverages if coverage.shard in kept]


def _lacks(coverage: ShardCoverage) -> str:
    parts = [f"{coverage.missing:,} missing"] if coverage.missing else []
    parts += [f"{coverage.extra:,} too many"] if coverage.extra else []
    return ", ".join(parts)


def _table(report: AuditReport) -> Iterator[str]:
    shown, left = worst_first(report, ROWS)
    names = [*heads(report), "findings"]
    yield "<h2>Shards</h2>"
    yield from table_head(names)
    for coverage in shown:
        row = [*cells(report, coverage), ", ".join(coverage.codes)]
        drawn = (_cell(head, cell) for head, cell in zip(names, row, strict=True))
        yield f"<tr>{''.join(drawn)}</tr>"
    yield "</tbody></table></div>"
    if left:
        yield f"<p>And {left:,} more shards.</p>"


def _cell(head: str, cell: str) -> str:
    much = cell not in ("0", "?", "–", "")
    kind = ""
    if much and head == "missing":
        kind = ' class="bad"'
    elif much and head in ("too many", "out of order"):
        kind = ' class="much"'
    return f"<td{kind}>{safe(cell)}</td>"


class Shown(Struct, frozen=True):
    """What a notebook displays of a report; `print` shows it as text."""

    report: AuditReport
    height: int = 900

    def __str__(self) -> str:
        return write(self.report, "text", Context((self.report.facts.sink,), width=100))

    def _repr_html_(self) -> str:
        return frame(audit_page(self.report), self.height)


def show(facts: Facts, lineage: Lineage, stored: Stored | None = None) -> Shown:
    """Judge what `reshardctl.spark.audit.audit` has counted, to be displayed.

    counted = audit(frame, lineage=lineage)
    show(counted.facts, lineage)
    """
    return Shown(judge_sink(facts, lineage, stored))
