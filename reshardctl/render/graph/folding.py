"""Leaves finished shards out of a picture of many, so that the others have room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reshardctl.model import ShardId
from reshardctl.render.graph.chart import Box, Chart
from reshardctl.render.graph.selection import is_bad

FROM = 65
"""Shards from which finished ones are left out."""


def folded(chart: Chart) -> Chart:
    """The chart without finished shards, with their number in `folded`.

    A chart of a few shards, of selected ones, or without a consumer stays as it is. So does a
    parent of a shard with a finding: it shows where that one comes from.
    """
    return without(chart, finished([chart])) if chart.consumer else chart


def finished(charts: Sequence[Chart]) -> frozenset[ShardId]:
    """The shards that a picture of these consumers leaves out: finished for each of them.

    charts: of one stream, with the same boxes.
    """
    boxes = charts[0].boxes
    if len(boxes) < FROM or charts[0].hidden:
        return frozenset()
    bad = {box.shard for chart in charts for box in chart.boxes if is_bad(box.position)}
    telling = {parent for box in boxes if box.shard in bad for parent in box.parents}
    every = (
        {box.shard for box in chart.boxes if _finished(box)} for chart in charts
    )
    return frozenset(set.intersection(*every) - telling - bad)


def without(chart: Chart, shards: frozenset[ShardId]) -> Chart:
    """The chart without these shards, which are counted in `folded`."""
    boxes = tuple(box for box in chart.boxes if box.shard not in shards)
    return replace(chart, boxes=boxes, folded=len(chart.boxes) - len(boxes))


def _finished(box: Box) -> bool:
    """Closed, and processed to its end."""
    position = box.position
    return (
        not box.open and position is not None and position.processed is not None
        and position.since is None
    )
