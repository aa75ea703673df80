"""The charts of an audit: the lineage map, and bars over time.

In the map a rectangle is a shard, and shows where in it records are missing or doubled. The bars
show what the sink has, what it lacks, and what it has too often. Buckets of different widths become
bars of one width: sums are kept, a bucket is spread evenly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.auditing.coverage import time_in
from reshardctl.auditing.facts import Bucket
from reshardctl.model.times import instant
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart, chart_of
from reshardctl.render.graph.layout import BEFORE, LEFT, TOP, Layout, layout_of
from reshardctl.render.graph.losses import shard_labels
from reshardctl.render.graph.svg import axes, rect, shard
from reshardctl.render.markup import STYLE, px, safe
from reshardctl.render.words import clock
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


MOST_BARS = 120
"""Bars of a chart."""


class Bars(Struct, frozen=True):
    """since, until: Unix seconds. Of every bar: rows in the sink, records missing, rows too many.

    rows: the rows too many among them.
    """

    since: float
    until: float
    rows: Sequence[float]
    missing: Sequence[float]
    extra: Sequence[float]

    @property
    def highest(self) -> float:
        """Of the stack of rows and missing records; at least 1."""
        return max((r + m for r, m in zip(self.rows, self.missing, strict=True)), default=1) or 1


def span(buckets: Iterable[Bucket]) -> tuple[float, float] | None:
    """From the first to the last bucket in which something is."""
    full = [bucket for bucket in buckets if bucket.rows or bucket.missing or bucket.extra]
    if not full:
        return None
    ends = (bucket.since + bucket.seconds for bucket in full)
    return min(bucket.since for bucket in full), max(ends)


def bars(buckets: Iterable[Bucket], ends: tuple[float, float], count: int = MOST_BARS) -> Bars:
    """ends: Unix seconds; what lies outside of them is left out."""
    since, until = ends
    width = (until - since) / count or 1.0
    rows, missing, extra = ([0.0] * count for _ in range(3))
    for bucket in buckets:
        for index, share in _shares(bucket, since, width, count):
            rows[index] += bucket.rows * share
            missing[index] += bucket.missing * share
            extra[index] += bucket.extra * share
    return Bars(since, until, rows, missing, extra)


def _shares(
    bucket: Bucket, since: float, width: float, count: int
) -> Iterable[tuple[int, float]]:
    """Bars that a bucket touches, and which share of it falls into each."""
    begin, end = bucket.since - since, bucket.since + bucket.seconds - since
    first, last = int(begin // width), int(-(-end // width)) - 1
    for index in range(max(first, 0), min(last, count - 1) + 1):
        inside = min(end, (index + 1) * width) - max(begin, index * width)
        if inside > 0 and bucket.seconds > 0:
            yield index, inside / bucket.seconds


WIDTH = 1000.0
BARS_LEFT = 64.0


def chart(bars: Bars, height: float, title: str, *, axis: bool = True) -> str:
    """An SVG with one path for each kind of bar, so that its size depends on the bars alone.

    title: the text for screen readers.
    """
    below = 18.0 if axis else 0.0
    top = 4.0
    room = height - top
    step = WIDTH / len(bars.rows)
    scale = room / bars.highest
    good = [row - extra for row, extra in zip(bars.rows, bars.extra, strict=True)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="reshard bars" role="img" '
        f'width="{px(BARS_LEFT + WIDTH + 8)}" height="{px(height + below)}" '
        f'viewBox="0 0 {px(BARS_LEFT + WIDTH + 8)} {px(height + below)}">',
        f"<title>{safe(title)}</title>",
        _bars_path("rows", good, [0.0] * len(good), step, scale, height),
        _bars_path("extra", bars.extra, good, step, scale, height),
        _bars_path("missing", bars.missing, bars.rows, step, scale, height),
        f'<line class="grid" x1="{px(BARS_LEFT)}" y1="{px(height)}" x2="{px(BARS_LEFT + WIDTH)}" '
        f'y2="{px(height)}"/>',
    ]
    if axis:
        parts += _axis(bars, height)
    return "\n".join([*parts, "</svg>"])


def _bars_path(
    kind: str, values: Sequence[float], on: Sequence[float], step: float, scale: float,
    height: float,
) -> str:
    """A kind's bars, each standing on what is below it, and never too low to be seen."""
    drawn = []
    for index, (value, base) in enumerate(zip(values, on, strict=True)):
        if value > 0:
            left, bottom = BARS_LEFT + index * step, height - base * scale
            tall = max(value * scale, 1.5 if kind != "rows" else 0.5)
            drawn.append(f"M{px(left)} {px(bottom)}v-{px(tall)}h{px(step * 0.9)}v{px(tall)}z")
    return f'<path class="{kind}" d="{"".join(drawn)}"/>' if drawn else ""


def _axis(bars: Bars, height: float) -> list[str]:
    parts = [
        f'<text class="axis" text-anchor="end" x="{px(BARS_LEFT - 6)}" y="12">'
        f"{bars.highest:,.0f}</text>"
    ]
    for part in range(5):
        moment = bars.since + (bars.until - bars.since) * part / 4
        anchor = ("start", "middle", "middle", "middle", "end")[part]
        label = safe(clock(moment, bars.until))
        parts.append(
            f'<text class="axis" text-anchor="{anchor}" x="{px(BARS_LEFT + WIDTH * part / 4)}" '
            f'y="{px(height + 14)}">{label}</text>'
        )
    return parts
