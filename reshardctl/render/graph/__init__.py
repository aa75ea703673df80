"""Pictures of a lineage: pure functions from a chart to a string. One file a format."""

from __future__ import annotations

from reshardctl.lineage import Lineage
from reshardctl.render.context import Context
from reshardctl.render.document import Document, Json
from reshardctl.render.graph import html, svg, text
from reshardctl.render.graph.chart import EVERY_SHARD, Chart, DrawnShards, chart_of, select
from reshardctl.render.graph.export import graph_document
from reshardctl.render.sheet import Sheet
from reshardctl.report.report import Report


class ChartDocument(Document[Chart]):
    """A stream with one consumer at most. width: columns of its text; `None` for what it needs."""

    def __init__(self, chart: Chart, width: int | None = None) -> None:
        super().__init__(chart, Context())
        self._width = width

    def data(self) -> Json:
        """Shards, positions and edges."""
        return graph_document(self.result)

    def screen(self, sheet: Sheet) -> None:
        """The forks of the stream."""
        sheet.raw(text.draw(self.result, self._width))

    def chart(self) -> Chart:
        """All of it."""
        return self.result

    def picture(self) -> str:
        """Time by hash keys."""
        return svg.draw(self.result)

    def page(self) -> str:
        """The picture, the losses and a table."""
        return html.draw(self.result)


def drawing(
    lineage: Lineage, now: float, report: Report | None = None,
    selection: DrawnShards = EVERY_SHARD, width: int | None = None,
) -> ChartDocument:
    """The lineage at `now` (Unix seconds), with the line of a judged consumer.

    width: columns that a line of text may have; `None` for as many as it needs.
    """
    (chart,) = select([chart_of(lineage, now, report)], selection)
    return ChartDocument(chart, width)


__all__ = ["EVERY_SHARD", "Chart", "ChartDocument", "DrawnShards", "chart_of", "drawing"]
