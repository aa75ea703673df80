"""The losses of a chart: in which order they are listed, and the box that each has in a picture.

A box is never smaller than `LEAST`: a shard with one hash key, or a loss of one second, is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from reshardctl.model import ShardId, index_of
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart, DrawnPosition, Loss
from reshardctl.render.graph.layout import LEFT, TOP, WIDTH, Layout
from reshardctl.render.graph.xml import lines, px, safe

LEAST = (8.0, 4.0)
"""Pixels of a loss's box at least: its width and its height."""
APART = 2.0
"""Pixels by which the tops of two boxes of the least height differ, so that both are seen."""
STEP = 6.0
"""Pixels from one spread box to the next; the paper is seen between their outlines."""
MOST_SPREAD = 64
"""Neighbours that are spread; more would be drawn too far from their place."""


@dataclass(frozen=True, slots=True)
class ListedLoss:
    """A shard and its loss. anchor: the id of the box in a picture, to link to."""

    box: Box
    position: DrawnPosition
    loss: Loss
    anchor: str


def losses_of(chart: Chart) -> list[ListedLoss]:
    """Every loss, the certain ones first, the longest first among them."""
    losses = [
        ListedLoss(box, box.position, box.position.loss, anchor(box.shard))
        for box in chart.boxes
        if box.position is not None and box.position.loss is not None
    ]
    return sorted(losses, key=lambda listed: (
        not listed.loss.certain, listed.loss.since - listed.loss.until
    ))


def kind_of(losses: Iterable[Loss]) -> str:
    """The class of a box: solid where each loss in it is certain, else hatched."""
    return "lost" if all(loss.certain for loss in losses) else "may"


def anchor(shard: ShardId) -> str:
    """The id of a shard's loss: with its number, or with a digest of an id of another form."""
    index = index_of(shard)
    return f"loss-{sha256(shard.encode()).hexdigest()[:16] if index is None else index}"


def loss_boxes(chart: Chart, layout: Layout) -> Iterator[str]:
    """The box of every loss, to be drawn above the line; the certain ones are drawn last."""
    losses = losses_of(chart)
    across = rows([listed.box for listed in losses], layout)
    for listed in reversed(losses):
        names = (kind_of([listed.loss]), listed.anchor)
        yield loss_box(listed.box, [listed.loss], layout, across, names, labels.numbers(listed.box))


Rows = Mapping[ShardId, tuple[float, float]]
"""For each shard with a loss: pixels from the top, and of height."""


def rows(boxes: Iterable[Box], layout: Layout) -> Rows:
    """Where the boxes of these shards' losses lie in the hash space.

    Neighbours that would hide each other, such as shards with one hash key each, are spread evenly
    around their place, between the losses of larger shards above and below where there is room;
    more than `MOST_SPREAD` of them stay where they are.
    """
    rows_of: dict[ShardId, tuple[float, float]] = {}
    groups: list[list[ShardId]] = [[]]
    inside = (TOP, TOP + layout.height)
    for box in sorted(boxes, key=lambda box: (box.low, box.high)):
        top, height = _at_least((layout.y(box.low), layout.y(box.high + 1)), LEAST[1], inside)
        group = groups[-1]
        if group and (height > LEAST[1] or top - rows_of[group[-1]][0] >= APART):
            groups.append([])
        rows_of[box.shard] = top, height
        if height <= LEAST[1]:
            groups[-1].append(box.shard)
    large = [place for place in rows_of.values() if place[1] > LEAST[1]]
    for group in groups:
        if 1 < len(group) <= MOST_SPREAD:
            rows_of |= _spread(group, rows_of, large, inside)
    return rows_of


def _spread(
    group: list[ShardId], rows_of: Rows, large: Iterable[tuple[float, float]],
    inside: tuple[float, float],
) -> dict[ShardId, tuple[float, float]]:
    """A group one below the other, around its middle. large: what it should not cover."""
    first, last = rows_of[group[0]][0], rows_of[group[-1]][0] + LEAST[1]
    above = [top + height for top, height in large if top + height / 2 <= first]
    below = [top for top, height in large if top + height / 2 >= last]
    between = (max(above, default=inside[0]), min(below, default=inside[1]))
    if between[1] - between[0] >= len(group) * LEAST[1]:
        inside = between
    step = min(STEP, (inside[1] - inside[0]) / len(group))
    height = step * len(group)
    top = min(max((first + last) / 2 - height / 2, inside[0]), inside[1] - height)
    return {shard: (top + step * at, LEAST[1]) for at, shard in enumerate(group)}


def loss_box(
    box: Box, losses: Iterable[Loss], layout: Layout, across: Rows, kind: tuple[str, str],
    told: list[str],
) -> str:
    """One box from the first loss to the end of the last.

    across: where it lies in the hash space. kind: its class and its id. told: the lines of its
    tooltip.
    """
    losses = list(losses)
    since = min(max(min(loss.since for loss in losses), box.opened), box.closed)
    until = max(since, min(max(loss.until for loss in losses), box.closed))
    left, width = _at_least(
        (layout.x(since), layout.x(until)), LEAST[0], (LEFT, LEFT + WIDTH)
    )
    top, height = across[box.shard]
    return (
        f'<rect id="{kind[1]}" class="{kind[0]}" data-loss="{safe(box.shard)}" x="{px(left)}" '
        f'y="{px(top)}" width="{px(width)}" height="{px(height)}">'
        f"<title>{lines(told)}</title></rect>"
    )


def _at_least(
    ends: tuple[float, float], least: float, inside: tuple[float, float]
) -> tuple[float, float]:
    """Start and length, widened around the middle to `least` without leaving `inside`."""
    length = ends[1] - ends[0]
    if length >= least:
        return ends[0], length
    start = (ends[0] + ends[1] - least) / 2
    return min(max(start, inside[0]), inside[1] - least), least
