"""Bars over time as an svg element: what the sink has, what it lacks, what it has too often."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.render.audit.bins import Bars
from reshardctl.render.graph.xml import px, safe
from reshardctl.render.words import clock

WIDTH = 1000.0
LEFT = 64.0


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
        f'width="{px(LEFT + WIDTH + 8)}" height="{px(height + below)}" '
        f'viewBox="0 0 {px(LEFT + WIDTH + 8)} {px(height + below)}">',
        f"<title>{safe(title)}</title>",
        _path("rows", good, [0.0] * len(good), step, scale, height),
        _path("extra", bars.extra, good, step, scale, height),
        _path("missing", bars.missing, bars.rows, step, scale, height),
        f'<line class="grid" x1="{px(LEFT)}" y1="{px(height)}" x2="{px(LEFT + WIDTH)}" '
        f'y2="{px(height)}"/>',
    ]
    if axis:
        parts += _axis(bars, height)
    return "\n".join([*parts, "</svg>"])


def _path(
    kind: str, values: Sequence[float], on: Sequence[float], step: float, scale: float,
    height: float,
) -> str:
    """A kind's bars, each standing on what is below it, and never too low to be seen."""
    drawn = []
    for index, (value, base) in enumerate(zip(values, on, strict=True)):
        if value > 0:
            left, bottom = LEFT + index * step, height - base * scale
            tall = max(value * scale, 1.5 if kind != "rows" else 0.5)
            drawn.append(f"M{px(left)} {px(bottom)}v-{px(tall)}h{px(step * 0.9)}v{px(tall)}z")
    return f'<path class="{kind}" d="{"".join(drawn)}"/>' if drawn else ""


def _axis(bars: Bars, height: float) -> list[str]:
    parts = [
        f'<text class="axis" text-anchor="end" x="{px(LEFT - 6)}" y="12">'
        f"{bars.highest:,.0f}</text>"
    ]
    for part in range(5):
        moment = bars.since + (bars.until - bars.since) * part / 4
        anchor = ("start", "middle", "middle", "middle", "end")[part]
        label = safe(clock(moment, bars.until))
        parts.append(
            f'<text class="axis" text-anchor="{anchor}" x="{px(LEFT + WIDTH * part / 4)}" '
            f'y="{px(height + 14)}">{label}</text>'
        )
    return parts
