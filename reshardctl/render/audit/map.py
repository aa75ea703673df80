"""The lineage map: a rectangle a shard, and where in it records are missing or doubled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reshardctl.auditing.coverage import time_in
from reshardctl.auditing.facts import Bucket
from reshardctl.model.times import instant
from reshardctl.render.graph import labels
from reshardctl.render.graph.axes import axes
from reshardctl.render.graph.chart import Box, Chart, chart_of
from reshardctl.render.graph.layout import BEFORE, LEFT, TOP, Layout, layout_of
from reshardctl.render.graph.shard_labels import shard_labels
from reshardctl.render.graph.style import STYLE
from reshardctl.render.graph.svg import rect, shard
from reshardctl.render.graph.xml import px, safe
from reshardctl.report.audit import AuditReport, ShardCoverage

LEAST = 2.5
"""Pixels of a stretch, so that a single record can be seen."""
BAND = 0.34
"""Of a shard's height, for rows too many: what is missing at the same time stays in sight."""
FEW, MOST = 0.1, 0.9
"""Shares of a stretch's records from which on it is drawn darker."""

PATTERN = (
    '<defs><pattern id="reshard-gone" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><line class="faint" x1="0" y1="0" x2="0" y2="6" '
    'stroke-width="2"/></pattern></defs>'
)


def picture(report: AuditReport) -> str:
    """The svg element."""
    chart = chart_of(report.lineage, report.facts.taken)
    layout = _layout(chart, report)
    width, height = layout.size
    bad = _bad(report)
    coverages = {coverage.shard: coverage for coverage in report.coverages}
    title = safe(labels.headline(chart))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="reshard" role="img" '
        f'width="{px(width)}" height="{px(height)}" viewBox="0 0 {px(width)} {px(height)}" '
        f'data-since="{px(layout.since)}" data-until="{px(layout.until)}">',
        f"<title>{title}</title>", f"<style>{STYLE}</style>", PATTERN,
        f'<text class="title" x="{px(LEFT)}" y="20">{title}</text>', *axes(chart, layout),
    ]
    for box in chart.boxes:
        parts += shard(box, layout)
        parts += _over(box, layout, coverages.get(box.shard), bad.get(box.shard, []))
    parts += shard_labels(chart.boxes, layout)
    return "\n".join([*parts, "</svg>"])


def _layout(chart: Chart, report: AuditReport) -> Layout:
    """The stream's own, further back where something is missing or doubled before it."""
    layout = layout_of(chart)
    bad = [bucket.since for bucket in report.facts.buckets if bucket.missing or bucket.extra]
    bad += [
        then for compared in report.facts.compared.values()
        if (then := time_in(compared.first_missing)) is not None
    ]
    oldest = min((box.opened for box in chart.boxes), default=layout.since)
    first = min(bad, default=layout.since)
    since = max(oldest, first - BEFORE * (layout.until - first))
    return replace(layout, since=min(layout.since, since))


def _bad(report: AuditReport) -> dict[str, list[Bucket]]:
    by_shard: dict[str, list[Bucket]] = {}
    for bucket in report.facts.buckets:
        if bucket.missing or bucket.extra:
            by_shard.setdefault(bucket.shard, []).append(bucket)
    return by_shard


def _over(
    box: Box, layout: Layout, coverage: ShardCoverage | None, bad: list[Bucket]
) -> Iterator[str]:
    """What cannot be known, then what is missing, then what is doubled along the lower edge."""
    top, height = layout.y(box.low), layout.y(box.high + 1) - layout.y(box.low)
    for gap in coverage.unknowable if coverage is not None else ():
        since = max(box.opened, box.opened if gap.since is None else gap.since)
        until = min(box.closed, box.closed if gap.until is None else gap.until)
        if since < until:
            yield rect(layout, 'class="gone" ', (since, until), (top, height))
    tooltip = "" if coverage is None else _tooltip(coverage)
    for kind, stretches in _shaded(coverage, bad):
        band = (top, height)
        if kind.startswith("extra"):
            band = (top + height * (1 - BAND), height * BAND)
        yield from _path(kind, _joined(stretches), box, layout, band, tooltip)


def _shaded(
    coverage: ShardCoverage | None, bad: list[Bucket]
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Stretches by what they are drawn as: the more of what was there, the darker."""
    lost: dict[str, list[tuple[float, float]]] = {}
    for bucket in bad:
        ends = bucket.since, bucket.since + bucket.seconds
        good = max(0, bucket.rows - bucket.extra)
        if bucket.missing:
            lost.setdefault(_shade("missing", bucket.missing, good), []).append(ends)
        if bucket.extra:
            lost.setdefault(_shade("extra", bucket.extra, good), []).append(ends)
    compared = None if coverage is None else coverage.compared
    if compared is not None and compared.missing and not any(b.missing for b in bad):
        since, until = time_in(compared.first_missing), time_in(compared.last_missing)
        if since is not None and until is not None:
            shade = _shade("missing", compared.missing, compared.read - compared.missing)
            lost.setdefault(shade, []).append((since, until))
    yield from sorted(lost.items(), reverse=True)


def _shade(kind: str, bad: int, good: int) -> str:
    """`missing`, `missing some`, `missing few`."""
    share = bad / (bad + good)
    return kind if share >= MOST else f"{kind} some" if share >= FEW else f"{kind} few"


def _tooltip(coverage: ShardCoverage) -> str:
    """For who points at it."""
    parts = []
    if coverage.compared is not None and coverage.missing:
        missing = (coverage.compared.first_missing, coverage.compared.last_missing)
        ends = [time_in(record) for record in missing]
        when = [instant(end) for end in ends if end is not None]
        parts.append(
            f"{coverage.missing:,} of {coverage.compared.read:,} records missing, "
            f"arrived {' to '.join(dict.fromkeys(when))}"
        )
    if coverage.extra:
        parts.append(f"{coverage.extra:,} of {coverage.rows:,} rows too many")
    return f"{labels.name(coverage.shard)}: {'; '.join(parts)}"


def _joined(stretches: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Neighbours as one."""
    joined: list[tuple[float, float]] = []
    for since, until in sorted(stretches):
        if joined and since <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(until, joined[-1][1]))
        else:
            joined.append((since, until))
    return joined


def _path(
    kind: str, stretches: list[tuple[float, float]], box: Box, layout: Layout,
    across: tuple[float, float], tooltip: str,
) -> Iterator[str]:
    top, height = max(across[0], TOP), across[1]
    drawn = []
    for since, until in stretches:
        left = layout.x(max(since, box.opened))
        wide = max(LEAST, layout.x(min(until, box.closed)) - left)
        left = min(left, layout.x(box.closed) - LEAST)
        drawn.append(f"M{px(left)} {px(top)}h{px(wide)}v{px(height)}h-{px(wide)}z")
    if drawn:
        name = f'class="{kind}" data-shard="{safe(box.shard)}"'
        yield f'<path {name} d="{"".join(drawn)}"><title>{safe(tooltip)}</title></path>'
