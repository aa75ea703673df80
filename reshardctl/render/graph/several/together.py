"""One stream and the places of several consumers in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reshardctl.lineage import Lineage
from reshardctl.render.graph.chart import (
    EVERY_SHARD,
    Box,
    Chart,
    DrawnPosition,
    DrawnShards,
    Loss,
    chart_of,
    finished,
    select,
    without,
)
from reshardctl.render.graph.layout import Layout, layout_of
from reshardctl.report.report import Report


@dataclass(frozen=True, slots=True)
class Line:
    """One consumer. chart: of the stream, with this consumer's places in the boxes of all."""

    name: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class Together:
    """base: the stream alone. lines: the consumers, in their order."""

    base: Chart
    lines: tuple[Line, ...]

    def layout(self) -> Layout:
        """One axis for all: it begins before the first unread record of any consumer."""
        return layout_of(self.slowest())

    def slowest(self) -> Chart:
        """The stream with what not every consumer has processed of each shard."""
        boxes = tuple(
            replace(box, position=_earliest([line.chart.boxes[at].position for line in self.lines]))
            for at, box in enumerate(self.base.boxes)
        )
        return replace(self.base, boxes=boxes)

    def folded(self) -> Together:
        """Without the shards that every consumer has finished, where there are many."""
        if not self.lines:
            return self
        left_out = finished([line.chart for line in self.lines])
        lines = (Line(line.name, without(line.chart, left_out)) for line in self.lines)
        return Together(without(self.base, left_out), tuple(lines))

    def lost(self) -> dict[Box, list[Loss]]:
        """What of each shard one of them will not read, or may not; other shards are left out.

        The certain losses come last, to be drawn above the others.
        """
        losses_of: dict[Box, list[Loss]] = {}
        for at, box in enumerate(self.base.boxes):
            for line in self.lines:
                if loss := line.chart.boxes[at].loss:
                    losses_of.setdefault(box, []).append(loss)
        certain = {box: all(loss.certain for loss in losses) for box, losses in losses_of.items()}
        return {box: losses_of[box] for box in sorted(losses_of, key=lambda box: certain[box])}


def together(
    lineage: Lineage, now: float, reports: Sequence[tuple[str, Report]],
    selection: DrawnShards = EVERY_SHARD,
) -> Together:
    """The consumers' reports on this lineage, each with its name. now: Unix seconds."""
    charts = [chart_of(lineage, now), *(chart_of(lineage, now, report) for _, report in reports)]
    base, *rest = select(charts, selection)
    names = [name for name, _ in reports]
    return Together(base, tuple(map(Line, names, rest)))


def _earliest(places: Sequence[DrawnPosition | None]) -> DrawnPosition | None:
    owing = [position for position in places if position is not None and position.since is not None]
    return min(owing, key=lambda position: position.since or 0.0, default=None)
