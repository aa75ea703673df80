"""Writes the frontier that a sink proves as JSON, exactly, and reads it strictly."""

from __future__ import annotations

from typing import Any

from reshardctl.auditing.sink_frontier import SinkFrontier
from reshardctl.codec.strict import JsonPath, array, list_of, members, string
from reshardctl.codec.values import cut_of_quiet_list, quiet_cut_list
from reshardctl.model import Basis, ShardId, Span


def line_json(line: SinkFrontier) -> dict[str, Any]:
    """The JSON form: {"sink", "notes", "spans": {shard: [lo, hi, basis, why]}}."""
    spans = {
        shard: [quiet_cut_list(span.lo), quiet_cut_list(span.hi), str(span.basis), span.why]
        for shard, span in line.spans.items()
    }
    return {"sink": line.sink, "notes": list(line.notes), "spans": spans}


def line(value: object, json_path: JsonPath) -> SinkFrontier:
    """Read what `line_json` wrote."""
    values = members(value, ("sink", "notes", "spans"), json_path)
    spans = values["spans"]
    if not isinstance(spans, dict):
        (json_path / "spans").wrong("not an object")
    return SinkFrontier(
        string(values["sink"], json_path / "sink"),
        {ShardId(shard): _span(span, json_path / "spans" / shard) for shard, span in spans.items()},
        list_of(values["notes"], json_path / "notes", string),
    )


def _span(value: object, json_path: JsonPath) -> Span:
    parts = array(value, json_path)
    if len(parts) != 4 or parts[2] not in set(Basis):
        json_path.wrong("not the two ends of a span, how it is known and why")
    lo, hi = cut_of_quiet_list(parts[0], json_path / 0), cut_of_quiet_list(parts[1], json_path / 1)
    if hi < lo:
        json_path.wrong("its end lies before its beginning")
    return Span(lo, hi, Basis(parts[2]), string(parts[3], json_path / 3))
