"""The lineage for other tools: GraphML as networkx writes and reads it, Graphviz, Mermaid, JSON.

Graphviz gets a digraph, Mermaid in Markdown a flowchart, each with an edge from every parent to its
child. JSON is one document, `reshardctl/graph/2`, described by `graph.schema.json`. As in reports,
hash keys and sequence numbers are strings, times ISO 8601 in UTC, lengths of time seconds; every
object has all of its members, always, and members are only ever added.
"""

from __future__ import annotations

from typing import Any

from reshardctl.model import Cut, Rank, ShardId, index_of
from reshardctl.model.times import instant
from reshardctl.render.document import Document, Json
from reshardctl.render.escape import ascii_only, cut, escape, time_json
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart, DrawnPosition, Loss


def graphml(document: Document[Any]) -> str:
    """ASCII. Hash keys are strings: no number of GraphML holds 128 bits."""
    import networkx

    chart = document.chart()
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


def dot(document: Document[Any]) -> str:
    """ASCII. Expired parents are dashed; what is lost for certain is red, what is unread amber."""
    chart = document.chart()
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


EDGES = 500
"""Mermaid's own limit, `maxEdges`; a diagram cannot raise it, only its page can."""

STYLES = (
    "classDef open stroke-width:3px",
    "classDef expired stroke-dasharray:4 3",
    "classDef unread stroke:#b8860b",
    "classDef lost stroke:#c0392b,color:#c0392b",
)


def mermaid(document: Document[Any]) -> str:
    """ASCII. A node is `s7` for shard 7, `x0`, `x1`, … for ids of another form."""
    chart, names = document.chart(), dict[ShardId, str]()
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


GRAPH = "reshardctl/graph/2"


def graph_document(chart: Chart) -> Json:
    """The chart as plain values."""
    stream = chart.stream
    return {
        "schema": GRAPH,
        "taken": instant(chart.now),
        "stream": {
            "name": stream.name, "arn": stream.arn, "created": instant(stream.created),
            "retention_seconds": stream.retention, "status": stream.status,
        },
        "consumer": {"locator": chart.consumer, "crash": chart.crash or None}
        if chart.consumer else None,
        "shards": [_box(box) for box in chart.boxes],
        "expired": list(chart.expired),
        "edges": [{"parent": parent, "child": child} for parent, child in chart.edges],
    }


def _box(box: Box) -> dict[str, Any]:
    return {
        "id": box.shard,
        "open": box.open,
        "opened": instant(box.opened),
        "closed": None if box.open else instant(box.closed),
        "hash_start": str(box.low),
        "hash_end": str(box.high),
        "parents": list(box.parents),
        "position": None if box.position is None else _position(box.position, box),
    }


def _position(position: DrawnPosition, box: Box) -> dict[str, Any]:
    span = position.processed
    return {
        "stored": position.stored,
        "processed": None if span is None else {
            "lo": _cut(span.lo), "hi": _cut(span.hi), "basis": str(span.basis), "why": span.why,
        },
        "unread_since": time_json(position.since),
        "perhaps_processed_until": time_json(position.perhaps),
        "unread_seconds": position.unread(box.closed),
        "loss": None if position.loss is None else _loss(position.loss),
        "findings": list(position.codes),
    }


def _loss(loss: Loss) -> dict[str, Any]:
    return {
        "harm": str(loss.effect.harm), "certain": loss.certain, "since": instant(loss.since),
        "until": instant(loss.until), "gone": loss.effect.gone, "why": loss.effect.why,
    }


def _cut(cut: Cut) -> str:
    """`START`, a number with `/sub`, `AT` and a time, `TIP` or `DONE`."""
    if cut.rank is Rank.INSIDE and cut.by_time:
        return "AT ?" if cut.time is None else f"AT {instant(cut.time)}"
    return str(cut)
