"""For log stores and stream processors: one JSON object a line, each complete in itself.

A `header`, a `finding` for each, a `shard` for each row, one `summary`. Their other members are
those of the `json` format. A stream without its summary came short.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.render.content.report_json import Json
from reshardctl.render.content.status import status_document
from reshardctl.render.context import Context
from reshardctl.render.escape import one_a_line
from reshardctl.render.formats.jsonl import SCHEMA
from reshardctl.report.status import ConsumerStatus


def write(status: ConsumerStatus, context: Context) -> str:
    """ASCII throughout, so that nothing in it can steer a terminal or end a line."""
    return one_a_line(_lines(status_document(status, context.exit)))


def _lines(document: Json) -> Iterator[Json]:
    document.pop("schema")
    findings, shards = document.pop("findings"), document.pop("shards")
    last = {name: document.pop(name) for name in (
        "total_shards", "shown_shards", "counts", "suppressed", "notes",
    )}
    yield _line("header", {"view": "status", **document})
    yield from (_line("finding", finding) for finding in findings)
    yield from (_line("shard", shard) for shard in shards)
    yield _line("summary", {"exit": document["exit"], **last})


def _line(kind: str, members: Json) -> Json:
    return {"schema": SCHEMA, "type": kind, **members}
