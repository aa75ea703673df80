"""For log stores: one JSON object a line: a header, findings, shards, buckets, a summary."""

from __future__ import annotations

import json
from collections.abc import Iterator

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.render.audit.documents import Document, audit_document, bucket_document
from reshardctl.render.context import Context
from reshardctl.render.json import exit_json
from reshardctl.render.jsonl import SCHEMA

HEADER = ("taken", "stream", "sink", "consumer", "against_stream")


def audit(report: AuditReport, context: Context) -> str:
    """A stream without its summary came short."""
    return "".join(
        json.dumps(line, allow_nan=False, ensure_ascii=True, separators=(",", ":")) + "\n"
        for line in _lines(report, context)
    )


def _lines(report: AuditReport, context: Context) -> Iterator[Document]:
    document = audit_document(report)
    ending = {"exit": exit_json(context.exit)}
    head = {name: document[name] for name in HEADER}
    yield _line("header", {"view": "audit", **ending, **head})
    for kind, many in (("finding", "findings"), ("shard", "shards"), ("unusable", "unusable")):
        for one in document[many]:
            yield _line(kind, one)
    for bucket in report.facts.buckets:
        yield _line("bucket", bucket_document(bucket))
    last = ("counts", "records", "keys", "saved", "notes", "next")
    yield _line("summary", {**ending, **{name: document[name] for name in last}})


def _line(kind: str, members: Document) -> Document:
    return {"schema": SCHEMA, "type": kind, **members}
