"""The picture: a rectangle a shard, the consumer's line through it, what is unread, what is lost.

Styled by itself, light and dark, with no script and no resource from elsewhere. Its axes are
moments in UTC across and shares of the hash space down. Two moments have a line of their own: now,
and the one before which records have expired.

Above a tall picture stands the whole stream at the height of a screen, without scripts. A click on
a part of the hash space, or on a loss, goes to it in the picture below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from reshardctl.model import HASH_SPACE
from reshardctl.model.times import duration, instant
from reshardctl.render.escape import cut
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart, folded
from reshardctl.render.graph.layout import LEFT, TOP, WIDTH, Layout, layout_of, open_edge
from reshardctl.render.graph.losses import (
    LossList,
    loss_box,
    loss_boxes,
    loss_rows,
    losses_of,
    shard_labels,
)
from reshardctl.render.markup import PATTERNS, STYLE, ascii_markup, lines, px, safe
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


HEIGHT = 280.0
"""Pixels of the hash space."""
PARTS = 16
"""Parts of the hash space with a link each."""


def part_anchors(layout: Layout) -> Iterator[str]:
    """Where the links of the overview lead to, in the picture."""
    for part in range(PARTS):
        y = layout.y(HASH_SPACE * part // PARTS)
        yield f'<g id="part-{part}"><path d="M{px(LEFT)},{px(y)}h1"/></g>'


def overview(chart: Chart) -> str:
    """The svg element. Losses have their least size here too, above the line."""
    layout = replace(layout_of(chart), height=HEIGHT)
    drawn = [*processed(chart, layout), *_losses(chart, layout)]
    return framed(layout, labels.counted_headline(chart), drawn)


def framed(layout: Layout, title: str, drawn: Iterable[str]) -> str:
    """The svg element with a link for each part. drawn: what lies above the parts."""
    size = f"{px(LEFT)} {px(TOP)} {px(WIDTH)} {px(HEIGHT)}"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="reshard overview" '
        f'viewBox="{size}" preserveAspectRatio="none">',
        f"<title>{safe(title)}</title>", *_parts(layout), *drawn, "</svg>",
    ])  # fmt: skip


def link_to(anchor: str, box: str) -> str:
    """A box of a loss in an overview, as a link to the one in the picture."""
    return f'<a href="#{anchor}">{box.replace("data-loss", "data-overview")}</a>'


def _parts(layout: Layout) -> Iterator[str]:
    for part in range(PARTS):
        top, end = (layout.y(HASH_SPACE * p // PARTS) for p in (part, part + 1))
        yield (
            f'<a href="#part-{part}"><rect class="part" x="{px(LEFT)}" y="{px(top)}" '
            f'width="{px(WIDTH)}" height="{px(end - top)}"><title>part {part + 1} of {PARTS}'
            "</title></rect></a>"
        )


def processed(chart: Chart, layout: Layout) -> Iterator[str]:
    """What is processed, left of the line."""
    points = [f"{px(LEFT)},{px(TOP)}"]
    for low, end, moment in open_edge(chart, layout.until):
        x = px(layout.x(moment))
        points += [f"{x},{px(layout.y(low))}", f"{x},{px(layout.y(end))}"]
    points.append(f"{px(LEFT)},{px(TOP + layout.height)}")
    yield f'<polygon class="processed" points="{" ".join(points)}"/>'


def _losses(chart: Chart, layout: Layout) -> Iterator[str]:
    losses = losses_of(chart)
    across = loss_rows([listed.box for listed in losses], layout)
    for listed in reversed(losses):
        kind = "lost" if listed.loss.certain else "may"
        told = [f"shard {labels.name(listed.box.shard)}", labels.loss(listed.position)]
        names = (kind, f"overview-{listed.anchor}")
        drawn = loss_box(listed.box, [listed.loss], layout, across, names, told)
        yield link_to(listed.anchor, drawn)


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
