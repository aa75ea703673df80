"""The picture: a rectangle a shard, the consumer's line through it, what is unread, what is lost.

Styled by itself, light and dark, with no script and no resource from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.render.escape import cut
from reshardctl.render.graph import labels
from reshardctl.render.graph.axes import TALL, axes
from reshardctl.render.graph.chart import Box, Chart
from reshardctl.render.graph.folding import folded
from reshardctl.render.graph.layout import LEFT, Layout, layout_of, open_edge
from reshardctl.render.graph.loss_list import LossList
from reshardctl.render.graph.losses import loss_boxes, losses_of
from reshardctl.render.graph.overview import part_anchors
from reshardctl.render.graph.shard_labels import shard_labels
from reshardctl.render.graph.style import PATTERNS, STYLE
from reshardctl.render.graph.xml import ascii_markup, lines, px, safe


def draw(chart: Chart) -> str:
    """A document of its own; ASCII."""
    picture_and_list = picture(chart, listed=True)
    return ascii_markup('<?xml version="1.0" encoding="UTF-8"?>\n' + picture_and_list)


def picture(whole: Chart, listed: bool = False) -> str:
    """The svg element. `data-since`, `data-until`: Unix seconds at the ends of the time axis.

    listed: with the losses as text below the picture, where no page around it has them.
    """
    chart = folded(whole)
    layout = layout_of(chart)
    losses = LossList([("", loss) for loss in losses_of(chart)] if listed else [], layout)
    width, end = layout.size
    height = end + losses.height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="reshard" role="img" '
        f'width="{px(width)}" height="{px(height)}" viewBox="0 0 {px(width)} {px(height)}" '
        f'data-since="{px(layout.since)}" data-until="{px(layout.until)}">',
        f"<title>{safe(labels.counted_headline(whole))}</title>",
        f"<style>{STYLE}</style>", PATTERNS.rstrip(), *_heading(whole), *axes(chart, layout),
        *(part_anchors(layout) if is_tall(layout) else ()),
    ]
    for box in chart.boxes:
        parts += shard(box, layout)
    if chart.consumer:
        parts += _line(chart, layout)
    parts += loss_boxes(chart, layout)
    parts += shard_labels(chart.boxes, layout)
    parts += losses.draw(end)
    return "\n".join([*parts, "</svg>"]) + "\n"


def is_tall(layout: Layout) -> bool:
    """Whether a picture is taller than a screen, so that it has an overview above it."""
    return layout.height > TALL


def _heading(chart: Chart) -> Iterator[str]:
    headline = safe(labels.headline(chart))
    if counted := labels.loss_count(chart):
        headline += f'<tspan class="bad"> · {safe(counted)}</tspan>'
    yield f'<text class="title" x="{px(LEFT)}" y="20">{headline}</text>'
    if chart.crash:
        text = cut(chart.crash, 160)
        yield f'<text class="crash" x="{px(LEFT)}" y="38">{safe(text)}</text>'
    elif chart.consumer:
        text = cut(chart.consumer, 160)
        yield f'<text class="axis" x="{px(LEFT)}" y="38">{safe(text)}</text>'


def shard(box: Box, layout: Layout) -> Iterator[str]:
    """Its box and what is unread of it."""
    top, height = layout.y(box.low), layout.y(box.high + 1) - layout.y(box.low)
    kind = ("open" if box.open else "closed") + (" thin" if height < 8 else "")
    yield f'<g class="shard {kind}"><title>{lines(labels.numbers(box))}</title>'
    name = f'class="life" data-shard="{safe(box.shard)}" '
    yield rect(layout, name, (box.opened, box.closed), (top, height))
    yield from _shades(box, layout, (top, height))
    if box.expired:
        x = px(layout.x(box.opened) + 1)
        yield f'<line class="orphan" x1="{x}" y1="{px(top)}" x2="{x}" y2="{px(top + height)}"/>'
    yield "</g>"


def _shades(box: Box, layout: Layout, across: tuple[float, float]) -> Iterator[str]:
    position = box.position
    if position is None:
        return
    if position.since is not None and position.perhaps is not None:
        middle = min(max(position.perhaps, position.since), box.closed)
        if position.since < middle:
            yield rect(layout, 'class="perhaps" ', (position.since, middle), across)
        if middle < box.closed:
            yield rect(layout, 'class="unread" ', (middle, box.closed), across)


def rect(
    layout: Layout, attributes: str, ends: tuple[float, float], across: tuple[float, float]
) -> str:
    """ends: Unix seconds. across: pixels from the top, and of height."""
    left, right = layout.x(ends[0]), layout.x(ends[1])
    return (
        f'<rect {attributes}x="{px(left)}" y="{px(across[0])}" width="{px(right - left)}" '
        f'height="{px(across[1])}"/>'
    )


def _line(chart: Chart, layout: Layout) -> Iterator[str]:
    """The line, and a tick where a place lies right of it: read before its parents were."""
    steps = open_edge(chart, layout.until)
    points: list[str] = []
    for low, end, moment in steps:
        x = px(layout.x(moment))
        points += [f"{x},{px(layout.y(low))}", f"{x},{px(layout.y(end))}"]
    path = " ".join(points)
    yield f'<polyline class="halo" points="{path}"/>'
    yield f'<polyline class="line" points="{path}"/>'
    for box in chart.boxes:
        if box.unread_since is not None and box.unread_since > box.opened:
            at = px(layout.x(box.unread_since))
            top, bottom = px(layout.y(box.low)), px(layout.y(box.high + 1))
            yield (
                f'<line class="tick" data-place="{safe(box.shard)}" x1="{at}" y1="{top}" '
                f'x2="{at}" y2="{bottom}"/>'
            )
