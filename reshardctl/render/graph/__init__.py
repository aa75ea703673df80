"""Pictures of a lineage: pure functions from a chart to a string. One file a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reshardctl.diagnosis.report import Report
from reshardctl.lineage import Lineage
from reshardctl.render.graph import dot, graphml, html, json, mermaid, svg, text
from reshardctl.render.graph.chart import Chart, chart_of

GRAPHS: Mapping[str, Callable[[Chart], str]] = {
    "text": text.draw,
    "dot": dot.draw,
    "mermaid": mermaid.draw,
    "graphml": graphml.draw,
    "json": json.draw,
    "json1": json.draw_version_1,
    "svg": svg.draw,
    "html": html.draw,
}


def draw(form: str, lineage: Lineage, now: float, report: Report | None = None) -> str:
    """The lineage at `now` (Unix seconds) in a format, with the line of a judged consumer."""
    return GRAPHS[form](chart_of(lineage, now, report))


__all__ = ["GRAPHS", "Chart", "chart_of", "draw"]
