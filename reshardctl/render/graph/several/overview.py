"""The overview above a tall picture of several consumers: what all have read, and each loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reshardctl.render.graph import labels
from reshardctl.render.graph.layout import Layout
from reshardctl.render.graph.losses import anchor, kind_of, loss_box, rows
from reshardctl.render.graph.several.together import Together
from reshardctl.render.graph.svg import HEIGHT, framed, link_to, processed


def overview(shown: Together) -> str:
    """The svg element."""
    layout = replace(shown.layout(), height=HEIGHT)
    drawn = [*processed(shown.slowest(), layout), *_losses(shown, layout)]
    return framed(layout, labels.headline(shown.base), drawn)


def _losses(shown: Together, layout: Layout) -> Iterator[str]:
    lost = shown.lost()
    across = rows(lost, layout)
    for box, losses in lost.items():
        target = anchor(box.shard)
        told = [f"shard {labels.name(box.shard)}"]
        names = (kind_of(losses), f"overview-{target}")
        yield link_to(target, loss_box(box, losses, layout, across, names, told))
