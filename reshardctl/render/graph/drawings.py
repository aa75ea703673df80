"""A stream as a document: alone or with one consumer, or with several, which have room in less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from reshardctl.lineage import Lineage
from reshardctl.render.context import Context
from reshardctl.render.document import Document, Json
from reshardctl.render.graph import html, several, svg, text
from reshardctl.render.graph.chart import EVERY_SHARD, Chart, DrawnShards, chart_of, select
from reshardctl.render.graph.export import graph_document
from reshardctl.render.sheet import Sheet
from reshardctl.report.report import Report

Drawn = TypeVar("Drawn")


class Drawing(Document[Drawn]):
    """A picture. width: columns of its text; `None` for as many as it needs."""

    def __init__(self, drawn: Drawn, width: int | None = None) -> None:
        super().__init__(drawn, Context())
        self.width = width


class ChartDocument(Drawing[Chart]):
    """A stream with one consumer at most."""

    def data(self) -> Json:
        return graph_document(self.result)

    def screen(self, sheet: Sheet) -> None:
        sheet.raw(text.draw(self.result, self.width))

    def chart(self) -> Chart:
        return self.result

    def picture(self) -> str:
        return svg.draw(self.result)

    def page(self) -> str:
        return html.draw(self.result)


class TogetherDocument(Drawing[several.Together]):
    """A stream with several consumers."""

    def screen(self, sheet: Sheet) -> None:
        sheet.raw(several.draw_text(self.result, self.width))

    def picture(self) -> str:
        return several.draw_svg(self.result)

    def page(self) -> str:
        return several.draw_page(self.result)


def drawing(
    lineage: Lineage, now: float, report: Report | None = None,
    selection: DrawnShards = EVERY_SHARD, width: int | None = None,
) -> ChartDocument:
    """The lineage at `now` (Unix seconds), with the line of a judged consumer."""
    (chart,) = select([chart_of(lineage, now, report)], selection)
    return ChartDocument(chart, width)


def drawing_of_several(
    lineage: Lineage, now: float, reports: Sequence[tuple[str, Report]],
    selection: DrawnShards = EVERY_SHARD, width: int | None = None,
) -> TogetherDocument:
    """The same with the lines of consumers by their names."""
    return TogetherDocument(several.together(lineage, now, reports, selection), width)
