"""The line from a sink as JSON, exactly, and back, strictly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reshardctl.audit.line import SinkLine
from reshardctl.codec.strict import Place, array, members, seconds, string
from reshardctl.model import (
    DONE,
    START,
    Basis,
    Cut,
    ShardId,
    Span,
    at_number,
    is_number,
)


def line_json(line: SinkLine) -> dict[str, Any]:
    """{"sink", "notes", "spans": {shard: [lo, hi, basis, why]}}."""
    spans = {
        shard: [_cut_json(span.lo), _cut_json(span.hi), str(span.basis), span.why]
        for shard, span in line.spans.items()
    }
    return {"sink": line.sink, "notes": list(line.notes), "spans": spans}


def line(value: object, place: Place) -> SinkLine:
    """What `line_json` wrote."""
    found = members(value, ("sink", "notes", "spans"), place)
    spans = found["spans"]
    if not isinstance(spans, dict):
        (place / "spans").wrong("not an object")
    notes = array(found["notes"], place / "notes")
    return SinkLine(
        string(found["sink"], place / "sink"),
        {ShardId(shard): _span(one, place / "spans" / shard) for shard, one in spans.items()},
        tuple(string(note, place / "notes" / n) for n, note in enumerate(notes)),
    )


def _span(value: object, place: Place) -> Span:
    parts = array(value, place)
    if len(parts) != 4 or parts[2] not in set(Basis):
        place.wrong("not the two ends of a span, how it is known and why")
    lo, hi = cut(parts[0], place / 0), cut(parts[1], place / 1)
    if hi < lo:
        place.wrong("its end lies before its beginning")
    return Span(lo, hi, Basis(parts[2]), string(parts[3], place / 3))


def _cut_json(one: Cut) -> list[Any]:
    return [one.rank.name, one.text, one.sub, one.quiet]


def cut(value: object, place: Place) -> Cut:
    """A place of a line: a beginning, an end (with its last record's number), or a number."""
    match value:
        case ["START", "", 0, quiet]:
            return replace(START, quiet=_quiet(quiet, place))
        case ["DONE", str(text), 0, None] if not text or is_number(text.partition("/")[0]):
            return Cut(DONE.rank, text=text)
        case ["INSIDE", str(number), int(sub), quiet] if is_number(number):
            return replace(at_number(number, sub), quiet=_quiet(quiet, place))
        case _:
            return place.wrong("not a place")


def _quiet(value: object, place: Place) -> float | None:
    return None if value is None else seconds(value, place / 3)
