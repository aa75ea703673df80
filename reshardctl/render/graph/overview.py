"""The overview above a tall picture: the whole stream at the height of a screen, without scripts.

A click on a part of the hash space, or on a loss, goes to it in the picture below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from reshardctl.model import HASH_SPACE
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Chart
from reshardctl.render.graph.layout import LEFT, TOP, WIDTH, Layout, layout_of, open_edge
from reshardctl.render.graph.losses import loss_box, losses_of, rows
from reshardctl.render.graph.xml import px, safe

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
    across = rows([listed.box for listed in losses], layout)
    for listed in reversed(losses):
        kind = "lost" if listed.loss.certain else "may"
        told = [f"shard {labels.name(listed.box.shard)}", labels.loss(listed.position)]
        names = (kind, f"overview-{listed.anchor}")
        drawn = loss_box(listed.box, [listed.loss], layout, across, names, told)
        yield link_to(listed.anchor, drawn)
