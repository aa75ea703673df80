"""The picture of several consumers: a line for each, and red where one of them loses.

Where positions coincide, lines are drawn with decreasing width, so each stays visible, also through
the red. Nothing else is shaded, because what one has not read another has.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.render.escape import cut
from reshardctl.render.graph import labels
from reshardctl.render.graph.layout import LEFT, Layout, open_edge
from reshardctl.render.graph.losses import (
    LossList,
    anchor,
    kind_of,
    loss_box,
    losses_of,
    rows,
    shard_labels,
)
from reshardctl.render.graph.several.together import Line, Together
from reshardctl.render.graph.svg import axes, is_tall, part_anchors, rect
from reshardctl.render.markup import PATTERNS, STYLE, ascii_markup, lines, px, safe

COLORS = (
    ("#0b3d91", "#9ec5ff"), ("#b34700", "#ffb27a"), ("#00695c", "#6fe0cf"), ("#7b1fa2", "#e0a8f5"),
    ("#616100", "#e6e07a"), ("#ad1457", "#ff9ac4"),
)
"""Light and dark. With more consumers they come again, dashed."""
THINNEST, STEP, THICKEST = 2.2, 2.2, 12.0
"""Pixels: the uppermost line, by how much each below it is thicker, and at most."""
ROW = 18.0
"""Pixels of a line of the legend."""


def draw(shown: Together) -> str:
    """A document of its own; ASCII."""
    return ascii_markup('<?xml version="1.0" encoding="UTF-8"?>\n' + picture(shown))


def picture(whole: Together, legend: bool = True) -> str:
    """The svg element. legend: below the picture with the losses, where no page has them."""
    shown = whole.folded()
    layout = shown.layout()
    width, height = layout.size
    losses = LossList([
        (line.name, loss) for line in shown.lines for loss in losses_of(line.chart)
    ] if legend else [], layout)  # fmt: skip
    below = height + (ROW * len(shown.lines) + 8 if legend else 0)
    tall = below + losses.height
    headline = safe(labels.headline(whole.base))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="reshard" role="img" '
        f'width="{px(width)}" height="{px(tall)}" viewBox="0 0 {px(width)} {px(tall)}" '
        f'data-since="{px(layout.since)}" data-until="{px(layout.until)}">',
        f"<title>{headline}</title>", f"<style>{STYLE}{style(len(shown.lines))}</style>",
        PATTERNS.rstrip(), f'<text class="title" x="{px(LEFT)}" y="20">{headline}</text>',
        *axes(shown.base, layout), *(part_anchors(layout) if is_tall(layout) else ()),
    ]
    for at in range(len(shown.base.boxes)):
        parts += _shard(at, shown, layout)
    for index, line in enumerate(shown.lines):
        parts.append(_line(line, index, len(shown.lines), layout))
    parts += _losses(shown, layout)
    parts += shard_labels(shown.base.boxes, layout)
    if legend:
        parts += [*_legend(shown, height), *losses.draw(below)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def style(number: int) -> str:
    """The colours of so many lines."""
    rules = [".reshard polyline~.lost{fill-opacity:.55}"]
    for index in range(number):
        light, dark = COLORS[index % len(COLORS)]
        dashes = ";stroke-dasharray:9 4" if index >= len(COLORS) else ""
        rules.append(f".reshard .c{index}{{--line:{light}{dashes}}}")
        rules.append(
            f"@media (prefers-color-scheme:dark){{.reshard .c{index}{{--line:{dark}}}}}"
        )
    return "\n" + "\n".join(rules) + "\n"


def thickness(index: int, number: int) -> float:
    """Pixels of a line; the last is drawn last and is the thinnest."""
    return min(THINNEST + STEP * (number - 1 - index), THICKEST)


def describe(line: Line) -> str:
    """A consumer in one line: its name, its locator, its losses, and whether it crashes."""
    parts = [cut(line.name, 80)]
    if line.chart.consumer not in ("", line.name):
        parts.append(cut(line.chart.consumer, 120))
    if counted := labels.loss_count(line.chart):
        parts.append(counted)
    if line.chart.crash:
        parts.append(cut(line.chart.crash, 160))
    return "   ".join(parts)


def _shard(at: int, shown: Together, layout: Layout) -> Iterator[str]:
    box = shown.base.boxes[at]
    top, height = layout.y(box.low), layout.y(box.high + 1) - layout.y(box.low)
    kind = ("open" if box.open else "closed") + (" thin" if height < 8 else "")
    told = [*labels.numbers(box), *_standings(at, shown)]
    yield f'<g class="shard {kind}"><title>{lines(told)}</title>'
    name = f'class="life" data-shard="{safe(box.shard)}" '
    yield rect(layout, name, (box.opened, box.closed), (top, height))
    yield "</g>"


def _losses(shown: Together, layout: Layout) -> Iterator[str]:
    lost = shown.lost()
    across = rows(lost, layout)
    places = {box.shard: at for at, box in enumerate(shown.base.boxes)}
    for box, losses in lost.items():
        told = [*labels.numbers(box), *_standings(places[box.shard], shown)]
        yield loss_box(box, losses, layout, across, (kind_of(losses), anchor(box.shard)), told)


def _standings(at: int, shown: Together) -> Iterator[str]:
    for line in shown.lines:
        if standing := labels.standing(line.chart.boxes[at]):
            yield f"{cut(line.name, 40)}: {standing}"


def _line(line: Line, index: int, number: int, layout: Layout) -> str:
    points: list[str] = []
    for low, end, moment in open_edge(line.chart, layout.until):
        x = px(layout.x(moment))
        points += [f"{x},{px(layout.y(low))}", f"{x},{px(layout.y(end))}"]
    width = px(thickness(index, number))
    return (
        f'<polyline class="line c{index}" data-consumer="{safe(line.name)}" '
        f'style="stroke-width:{width}px" points="{" ".join(points)}">'
        f"<title>{safe(describe(line))}</title></polyline>"
    )


def _legend(shown: Together, height: float) -> Iterator[str]:
    for index, line in enumerate(shown.lines):
        y = height + ROW * index + 6
        width = px(thickness(index, len(shown.lines)))
        yield (
            f'<line class="line c{index}" style="stroke-width:{width}px" x1="{px(LEFT)}" '
            f'y1="{px(y)}" x2="{px(LEFT + 28)}" y2="{px(y)}"/>'
        )
        yield f'<text x="{px(LEFT + 38)}" y="{px(y + 4)}">{safe(describe(line))}</text>'
