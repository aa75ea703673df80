"""The losses of a chart: in which order they are listed, and the box that each has in a picture.

A box is never smaller than `LEAST`: a shard with one hash key, or a loss of one second, is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reshardctl.model import ShardId, index_of
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart, DrawnPosition, Loss
from reshardctl.render.graph.layout import LEFT, TOP, WIDTH, Layout
from reshardctl.render.graph.xml import lines, px, safe

LEAST = (8.0, 4.0)
"""Pixels of a loss's box at least: its width and its height."""


@dataclass(frozen=True, slots=True)
class ListedLoss:
    """A shard and its loss. anchor: the id of the box in a picture, to link to."""

    box: Box
    position: DrawnPosition
    loss: Loss
    anchor: str


def losses_of(chart: Chart) -> list[ListedLoss]:
    """Every loss, the certain ones first, the longest first among them."""
    found = [
        ListedLoss(box, box.position, box.position.loss, anchor(box.shard, at))
        for at, box in enumerate(chart.boxes)
        if box.position is not None and box.position.loss is not None
    ]
    return sorted(found, key=lambda one: (not one.loss.certain, one.loss.since - one.loss.until))


def anchor(shard: ShardId, at: int) -> str:
    """The id of a shard's loss. at: its place among the boxes, for ids of another form."""
    index = index_of(shard)
    return f"loss-at-{at}" if index is None else f"loss-{index}"


def loss_boxes(chart: Chart, layout: Layout) -> Iterator[str]:
    """The box of every loss, to be drawn above the line; the certain ones are drawn last."""
    for one in reversed(losses_of(chart)):
        kind = "lost" if one.loss.certain else "may"
        yield loss_box(one.box, [one.loss], layout, (kind, one.anchor), labels.numbers(one.box))


def loss_box(
    box: Box, losses: Iterable[Loss], layout: Layout, kind: tuple[str, str], told: list[str]
) -> str:
    """One box from the first loss to the end of the last. kind: its class and its id.

    told: the lines of its tooltip.
    """
    losses = list(losses)
    since = min(max(min(loss.since for loss in losses), box.opened), box.closed)
    until = max(since, min(max(loss.until for loss in losses), box.closed))
    left, width = _at_least(
        (layout.x(since), layout.x(until)), LEAST[0], (LEFT, LEFT + WIDTH)
    )
    top, height = _at_least(
        (layout.y(box.low), layout.y(box.high + 1)), LEAST[1], (TOP, TOP + layout.height)
    )
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
