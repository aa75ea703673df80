"""Pictures of a lineage: pure functions from a chart to a string. One file a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reshardctl.lineage import Lineage
from reshardctl.render.graph import html, svg, text
from reshardctl.render.graph.chart import EVERY_SHARD, Chart, DrawnShards, chart_of, select
from reshardctl.render.graph.export import draw_dot, draw_graphml, draw_json, draw_mermaid
from reshardctl.report.report import Report

GRAPHS: Mapping[str, Callable[[Chart], str]] = {
    "text": text.draw,
    "dot": draw_dot,
    "mermaid": draw_mermaid,
    "graphml": draw_graphml,
    "json": draw_json,
    "svg": svg.draw,
    "html": html.draw,
}


def draw(
    form: str, lineage: Lineage, now: float, report: Report | None = None,
    selection: DrawnShards = EVERY_SHARD, width: int | None = None,
) -> str:
    """The lineage at `now` (Unix seconds) in a format, with the line of a judged consumer.

    width: columns that a line of text may have; `None` for as many as it needs.
    """
    (chart,) = select([chart_of(lineage, now, report)], selection)
    if form == "text":
        return text.draw(chart, width)
    return GRAPHS[form](chart)


__all__ = ["EVERY_SHARD", "GRAPHS", "Chart", "DrawnShards", "chart_of", "draw"]
