"""For graph tools: GraphML as networkx writes and reads it."""

from __future__ import annotations

from reshardctl.model.times import instant
from reshardctl.render.escape import cut, escape
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart


def draw(chart: Chart) -> str:
    """ASCII. Hash keys are strings: no number of GraphML holds 128 bits."""
    import networkx

    graph = networkx.DiGraph(
        stream=escape(chart.stream.arn), now=instant(chart.now),
        consumer=escape(cut(chart.consumer, 1000)),
    )
    for shard in chart.expired:
        graph.add_node(escape(shard), life="expired")
    for box in chart.boxes:
        graph.add_node(escape(box.shard), **_attributes(box))
    graph.add_edges_from((escape(parent), escape(child)) for parent, child in chart.edges)
    body = "\n".join(networkx.generate_graphml(graph))
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _attributes(box: Box) -> dict[str, str | float]:
    attributes: dict[str, str | float] = {
        "life": "open" if box.open else "closed",
        "opened": instant(box.opened),
        "hash_start": str(box.low),
        "hash_end": str(box.high),
    }
    if not box.open:
        attributes["closed"] = instant(box.closed)
    if (position := box.position) is not None:
        if position.stored is not None:
            attributes["position"] = escape(cut(position.stored, 1000))
        attributes["unread_seconds"] = float(position.unread(box.closed))
        attributes["loss"] = labels.loss(position)
        attributes["findings"] = " ".join(position.codes)
    return attributes
