"""Pictures of several consumers of one stream: a line for each."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.lineage import Lineage
from reshardctl.render.context import Context
from reshardctl.render.document import Document
from reshardctl.render.graph.chart import EVERY_SHARD, DrawnShards
from reshardctl.render.graph.several import html, svg, text
from reshardctl.render.graph.several.together import Together, together
from reshardctl.render.sheet import Sheet
from reshardctl.report.report import Report


class TogetherDocument(Document[Together]):
    """A stream with several consumers: the views in which several lines have room."""

    def __init__(self, shown: Together, width: int | None = None) -> None:
        super().__init__(shown, Context())
        self._width = width

    def screen(self, sheet: Sheet) -> None:
        """The forks of the stream, with a column for each consumer."""
        sheet.raw(text.draw(self.result, self._width))

    def picture(self) -> str:
        """Time by hash keys, with a line for each consumer."""
        return svg.draw(self.result)

    def page(self) -> str:
        """The picture, whose line is whose, and the places as a table."""
        return html.draw(self.result)


def drawing_of_several(
    lineage: Lineage, now: float, reports: Sequence[tuple[str, Report]],
    selection: DrawnShards = EVERY_SHARD, width: int | None = None,
) -> TogetherDocument:
    """The lineage at `now` (Unix seconds), with the lines of consumers by their names.

    width: columns that a line of text may have; `None` for as many as it needs.
    """
    return TogetherDocument(together(lineage, now, reports, selection), width)


__all__ = ["TogetherDocument", "drawing_of_several"]
