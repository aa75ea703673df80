"""For programs: one JSON document, described by `report.schema.json` above this folder."""

from __future__ import annotations

import json
from typing import Any

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.exit import Exit
from reshardctl.render.audit.documents import audit_document, bucket_document
from reshardctl.render.context import Context
from reshardctl.render.json import exit_json

AUDIT = "reshardctl/audit/1"


def audit(report: AuditReport, context: Context) -> str:
    """ASCII throughout, so that nothing in it can steer a terminal."""
    document = audit_json(report, context.exit)
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=True) + "\n"


def audit_json(report: AuditReport, code: Exit) -> dict[str, Any]:
    """Everything that an audit holds."""
    return {
        "schema": AUDIT, "exit": exit_json(code), **audit_document(report),
        "buckets": [bucket_document(bucket) for bucket in report.facts.buckets],
    }
