"""An audit in every format: pure functions from a report to a string. One file a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.render.audit import concise, github, json, jsonl, junit, markdown, sarif, text
from reshardctl.render.context import Context

AUDITS: Mapping[str, Callable[[AuditReport, Context], str]] = {
    "text": text.audit, "concise": concise.audit, "json": json.audit, "jsonl": jsonl.audit,
    "markdown": markdown.audit, "github": github.audit, "junit": junit.audit,
    "sarif": sarif.audit,
}

__all__ = ["AUDITS"]
