"""Pictures of several consumers of one stream: a line for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reshardctl.lineage import Lineage
from reshardctl.render.graph.chart import EVERY_SHARD, DrawnShards
from reshardctl.render.graph.several import html, svg, text
from reshardctl.render.graph.several.together import Together, together
from reshardctl.report.report import Report

SEVERAL: Mapping[str, Callable[[Together], str]] = {
    "text": text.draw, "svg": svg.draw, "html": html.draw,
}
"""Formats in which several lines have room."""


def draw_several(
    form: str, lineage: Lineage, now: float, reports: Sequence[tuple[str, Report]],
    selection: DrawnShards = EVERY_SHARD, width: int | None = None,
) -> str:
    """The lineage at `now` (Unix seconds), with the lines of consumers by their names.

    width: columns that a line of text may have; `None` for as many as it needs.
    """
    shown = together(lineage, now, reports, selection)
    return text.draw(shown, width) if form == "text" else SEVERAL[form](shown)


__all__ = ["SEVERAL", "draw_several"]
