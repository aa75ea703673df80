"""The axes of a picture: moments in UTC across, shares of the hash space down.

Two moments have a line of their own: now, and the one before which records have expired.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reshardctl.model import HASH_SPACE
from reshardctl.model.times import duration, instant
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Chart
from reshardctl.render.graph.layout import LEFT, TOP, Layout
from reshardctl.render.graph.xml import px, safe
from reshardctl.render.words import clock

LETTER = 6.6
"""Pixels of a letter on an axis, at most."""
GAP = 10.0
"""Pixels between two labels of an axis."""
TALL = 800.0
"""Pixels from which moments stand above the picture as well as below it."""
RETENTION_LIMIT = "retention limit"


def axes(chart: Chart, layout: Layout) -> Iterator[str]:
    """The grid, its labels, and a note with the zone and the retention."""
    bottom = TOP + layout.height
    for moment in layout.ticks():
        yield _vertical("grid", layout.x(moment), (TOP, bottom))
    for part in range(5):
        y = layout.y(HASH_SPACE * part // 4)
        label = ("0", "1/4", "1/2", "3/4", "1")[part]
        yield (
            f'<text class="axis" text-anchor="end" x="{px(LEFT - 8)}" y="{px(y + 4)}">'
            f"{label}</text>"
        )
    limit = chart.now - chart.stream.retention
    if layout.since < limit < layout.until:
        yield _vertical("limit", layout.x(limit), (TOP - 4, bottom + 4))
    yield _vertical("now", layout.x(chart.now), (TOP - 4, bottom + 4))
    for y in (bottom + 18, *((TOP - 6,) if layout.height > TALL else ())):
        for x, label in _apart(_moments(chart, layout)):
            yield (
                f'<text class="axis" text-anchor="middle" x="{px(x)}" y="{px(y)}">'
                f"{safe(label)}</text>"
            )
    kept = (
        f"Times are UTC. Records from before {instant(limit)} have expired "
        f"(retention {duration(chart.stream.retention)}). {labels.folding(chart)}".rstrip()
    )
    yield f'<text class="axis" x="{px(LEFT)}" y="{px(bottom + 36)}">{safe(kept)}</text>'


def _vertical(kind: str, x: float, ends: tuple[float, float]) -> str:
    return (
        f'<line class="{kind}" x1="{px(x)}" y1="{px(ends[0])}" x2="{px(x)}" y2="{px(ends[1])}"/>'
    )


def _moments(chart: Chart, layout: Layout) -> Iterator[tuple[float, str]]:
    """Pixels and labels, the most important first."""
    yield layout.x(chart.now), "now"
    limit = chart.now - chart.stream.retention
    if layout.since < limit < layout.until:
        yield layout.x(limit), RETENTION_LIMIT
    for moment in layout.ticks():
        yield layout.x(moment), clock(moment, chart.now)


def _apart(wanted: Iterable[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """The labels, without those that would overlap one before them."""
    taken: list[tuple[float, float]] = []
    for x, label in wanted:
        half = len(label) * LETTER / 2
        if all(x + half + GAP <= left or x - half - GAP >= right for left, right in taken):
            taken.append((x - half, x + half))
            yield x, label
