"""A page of its own: findings, the map of the shards, what was read, lost and doubled when.

No script and nothing from elsewhere; a policy in it forbids both. Its size is bounded: a thousand
shards make a page of a few megabytes at most.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.render.audit.bar_chart import chart
from reshardctl.render.audit.bins import bars, span
from reshardctl.render.audit.map import picture
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
from reshardctl.render.finding_markup import STYLE as FINDING
from reshardctl.render.finding_markup import drawn
from reshardctl.render.graph import labels
from reshardctl.render.graph.html import SHARDS
from reshardctl.render.graph.page import html_page, legend, table_head
from reshardctl.render.graph.style import PAGE
from reshardctl.render.graph.xml import safe
from reshardctl.render.words import sentence
from reshardctl.report.audit import AuditReport, ShardCoverage

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


def page(report: AuditReport) -> str:
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
        yield from drawn(finding, by_when(finding, report.facts.taken))
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
