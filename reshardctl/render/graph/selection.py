"""Which shards of a chart are drawn: all, named ones, the bad ones, or those since a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reshardctl.model import ShardId
from reshardctl.render.graph.chart import Chart, DrawnPosition


@dataclass(frozen=True, slots=True)
class DrawnShards:
    """Which shards to draw, and from when.

    shards: only these; none means all. only_bad: only shards with a loss, or that an error or a
    warning names. since: a Unix second; only shards that were open at it or later.
    """

    shards: tuple[ShardId, ...] = ()
    only_bad: bool = False
    since: float | None = None


EVERY_SHARD = DrawnShards()


def select(charts: Sequence[Chart], selection: DrawnShards) -> list[Chart]:
    """The charts of one stream with the selected shards only: the same shards in each.

    A shard is bad if it is bad for one of them.
    """
    if selection == EVERY_SHARD:
        return list(charts)
    bad = {box.shard for chart in charts for box in chart.boxes if is_bad(box.position)}
    wanted = frozenset(selection.shards)
    kept = frozenset(
        box.shard for box in charts[0].boxes
        if (not wanted or box.shard in wanted)
        and (not selection.only_bad or box.shard in bad)
        and (selection.since is None or box.open or box.closed > selection.since)
    )
    return [_only(chart, kept, selection.since) for chart in charts]


def is_bad(position: DrawnPosition | None) -> bool:
    """Whether the shard has a loss, or an error or a warning names it."""
    return position is not None and (position.bad or position.loss is not None)


def _only(chart: Chart, kept: frozenset[ShardId], since: float | None) -> Chart:
    boxes = tuple(box for box in chart.boxes if box.shard in kept)
    hidden = [box for box in chart.boxes if box.shard not in kept]
    named = {parent for box in boxes for parent in box.parents}
    return replace(
        chart, boxes=boxes, since=since,
        expired=tuple(shard for shard in chart.expired if shard in named),
        edges=tuple(edge for edge in chart.edges if edge[1] in kept and (
            edge[0] in kept or edge[0] in chart.expired
        )),
        hidden=len(hidden),
        hidden_losses=sum(box.loss is not None for box in hidden),
    )
