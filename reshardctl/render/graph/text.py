"""For a terminal: every split and merge as a fork, parents left and children right."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.model import ShardId
from reshardctl.render.escape import cut, escape
from reshardctl.render.families_below import Cells
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart
from reshardctl.render.graph.folding import folded
from reshardctl.render.graph.forks import fitted, forks
from reshardctl.render.graph.losses import losses_of
from reshardctl.render.words import count

MOST_LISTED = 12
"""Shards that the header lists of each kind of loss."""


def draw(whole: Chart, width: int | None = None) -> str:
    """A line a shard and fork, elder families first; what has neither parent nor child alone.

    width: columns of the terminal; `None` for lines as long as they need to be.
    """
    chart = folded(whole)
    boxes = {box.shard: box for box in chart.boxes}
    every = dict.fromkeys([*boxes, *chart.expired])
    cells = {shard: _cells(chart, boxes.get(shard), shard) for shard in every}
    lines = [labels.headline(whole, "   ")]
    if chart.consumer:
        lines.append(escape(cut(chart.consumer, 200)))
    if chart.crash:
        lines.append(f"✗ {escape(cut(chart.crash, 300))}")
    lines += _losses(chart)
    lines = [*fitted(lines, width), "", *forks(chart, cells, width)]
    if chart.folded:
        lines += ["", *fitted([labels.folding(chart)], width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _losses(chart: Chart) -> Iterator[str]:
    """How many losses there are, and of which shards: `✗ 2 losses: 4, 5`."""
    losses = losses_of(chart)
    for mark, certain, singular, plural in (
        ("✗", True, "loss", "losses"), ("!", False, "possible loss", "possible losses"),
    ):
        names = [
            labels.name(listed.box.shard) for listed in losses if listed.loss.certain is certain
        ]
        more = [f"and {len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
        if names:
            shown = ", ".join([*names[:MOST_LISTED], *more])
            yield f"{mark} {count(len(names), singular, plural)}: {shown}"
    if hidden := labels.hidden_losses(chart):
        yield f"! {hidden}"


def _cells(chart: Chart, box: Box | None, shard: ShardId) -> Cells:
    name = labels.name(shard)
    if box is None:
        kept = (chart.positions or {}).get(shard)
        return name, "expired", "" if kept is None else escape(cut(kept, labels.LONGEST)), "", ""
    life = labels.life(box, chart.now)
    if box.position is None:
        return name, life, "", "", ""
    return name, life, labels.stored(box.position), labels.unread(box), labels.loss(box.position)
