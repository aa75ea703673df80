"""For Markdown that draws Mermaid: a flowchart, an edge from every parent to its child."""

from __future__ import annotations

from reshardctl.model import ShardId, index_of
from reshardctl.render.escape import ascii_only
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart

EDGES = 500
"""Mermaid's own limit, `maxEdges`; a diagram cannot raise it, only its page can."""

STYLES = (
    "classDef open stroke-width:3px",
    "classDef expired stroke-dasharray:4 3",
    "classDef unread stroke:#b8860b",
    "classDef lost stroke:#c0392b,color:#c0392b",
)


def draw(chart: Chart) -> str:
    """ASCII. A node is `s7` for shard 7, `x0`, `x1`, … for ids of another form."""
    names: dict[ShardId, str] = {}
    for shard in (*chart.expired, *(box.shard for box in chart.boxes)):
        index = index_of(shard)
        names[shard] = f"x{len(names)}" if index is None else f"s{index}"
    lines = ["flowchart LR"]
    if len(chart.edges) > EDGES:
        lines.append(f"  %% {len(chart.edges)} edges: set maxEdges of Mermaid to at least that")
    for shard in chart.expired:
        lines.append(f"  {names[shard]}[{_text([labels.name(shard), 'expired'])}]:::expired")
    lines += [f"  {names[box.shard]}{_node(box, chart.now)}" for box in chart.boxes]
    lines += [f"  {names[parent]} --> {names[child]}" for parent, child in chart.edges]
    return ascii_only("\n".join([*lines, *(f"  {style}" for style in STYLES)])) + "\n"


def _node(box: Box, now: float) -> str:
    kind = "open" if box.open else ""
    if box.surely_loses:
        kind = "lost"
    elif labels.unread(box):
        kind = "unread"
    return f"[{_text(labels.node(box, now))}]" + (f":::{kind}" if kind else "")


def _text(lines: list[str]) -> str:
    """Everything but letters, digits and blanks as Mermaid's own entities."""
    return '"' + "<br/>".join(_spelled(ascii_only(line)) for line in lines) + '"'


def _spelled(line: str) -> str:
    return "".join(c if c.isalnum() or c in " -:.,_" else f"#{ord(c)};" for c in line)
