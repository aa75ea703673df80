"""For Graphviz: a digraph, an edge from every parent to its child."""

from __future__ import annotations

from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart


def draw(chart: Chart) -> str:
    """ASCII. Expired parents are dashed; what is lost for certain is red, what is unread amber."""
    lines = [
        f"digraph {_quoted(chart.stream.name)} {{",
        "  rankdir=LR;",
        '  node [shape=box, fontname="sans-serif"];',
    ]
    for shard in chart.expired:
        label = _label([labels.name(shard), "expired"])
        lines.append(f"  {_quoted(shard)} [label={label}, style=dashed];")
    for box in chart.boxes:
        label = _label(labels.node(box, chart.now))
        lines.append(f"  {_quoted(box.shard)} [label={label}{_style(box)}];")
    lines += [f"  {_quoted(parent)} -> {_quoted(child)};" for parent, child in chart.edges]
    return ascii_only("\n".join([*lines, "}"])) + "\n"


def _style(box: Box) -> str:
    shape = ", penwidth=2" if box.open else ""
    if box.surely_loses:
        return f'{shape}, color="#c0392b", fontcolor="#c0392b"'
    return f'{shape}, color="#b8860b"' if labels.unread(box) else shape


def _quoted(text: str) -> str:
    return '"' + escape(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _label(lines: list[str]) -> str:
    return "\\n".join(_quoted(line)[1:-1] for line in lines).join('""')
