"""Leaves finished shards out of a picture of many, so that the others have room."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.render.graph.chart import Box, Chart
from reshardctl.render.graph.selection import is_bad

FROM = 65
"""Shards from which finished ones are left out."""


def folded(chart: Chart) -> Chart:
    """The chart without finished shards, with their number in `folded`.

    A chart of a few shards, of selected ones, or without a consumer stays as it is. So does a
    parent of a shard with a finding: it shows where that one comes from.
    """
    if len(chart.boxes) < FROM or chart.hidden or not chart.consumer:
        return chart
    telling = {p for box in chart.boxes if is_bad(box.position) for p in box.parents}
    boxes = tuple(box for box in chart.boxes if box.shard in telling or not _finished(box))
    return replace(chart, boxes=boxes, folded=len(chart.boxes) - len(boxes))


def _finished(box: Box) -> bool:
    """Closed, processed to its end, and with no finding."""
    position = box.position
    return (
        not box.open and position is not None and position.processed is not None
        and position.since is None and not is_bad(position)
    )
