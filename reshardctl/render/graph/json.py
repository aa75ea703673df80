"""For programs: one document, `reshardctl/graph/2`, described by `graph.schema.json`.

As in reports, hash keys and sequence numbers are strings, times ISO 8601 in UTC, lengths of time
seconds; every object has all of its members, always, and members are only ever added.
"""

from __future__ import annotations

from typing import Any

from reshardctl.model import Cut, Rank
from reshardctl.model.times import instant
from reshardctl.render.graph.chart import Box, Chart, DrawnPosition, Loss
from reshardctl.render.json_text import indented, time_json

GRAPH = "reshardctl/graph/2"


def draw(chart: Chart) -> str:
    """ASCII throughout, so that nothing in it can steer a terminal."""
    return indented(document(chart))


def document(chart: Chart) -> dict[str, Any]:
    """The same as plain values."""
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
