"""For code scanning: SARIF 2.1.0, a result for every finding of an audit.

Fingerprints hash rule, stream, sink and shards, not the sentences.
"""

from __future__ import annotations

import json
from hashlib import sha256

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.diagnosis.rules import RULES, Finding
from reshardctl.model.times import instant
from reshardctl.render.audit.words import joined, remarks, sentences
from reshardctl.render.context import Context
from reshardctl.render.escape import escape
from reshardctl.render.sarif import (
    FINGERPRINT,
    LEVELS,
    Object,
    bare,
    document,
    logical,
    notification,
)


def audit(report: AuditReport, context: Context) -> str:
    """One run."""
    run = bare(context.exit, True, [notification("note", line) for line in remarks(report)])
    run["invocations"][0]["endTimeUtc"] = instant(report.facts.taken)
    identity = escape(f"reshardctl/audit/{report.lineage.stream.arn}/{report.facts.sink}/")
    return document(run | {
        "automationDetails": {"id": identity},
        "results": [_result(report, finding, context) for finding in report.findings],
    })


def fingerprint(report: AuditReport, finding: Finding) -> str:
    """SHA-256 in hexadecimal."""
    arn = report.lineage.stream.arn
    parts = [finding.code, arn, "sink", report.facts.sink, sorted(finding.shards)]
    return sha256(json.dumps(parts).encode("ascii")).hexdigest()


def _result(report: AuditReport, finding: Finding, context: Context) -> Object:
    deadline = finding.deadline
    starts = None if deadline is None else deadline.starts
    return {
        "ruleId": finding.code,
        "ruleIndex": [rule.code for rule in RULES].index(finding.code),
        "level": LEVELS[finding.severity],
        "message": {"text": escape(joined(sentences(report, finding, context.verbose)))},
        "locations": _locations(report, finding),
        "partialFingerprints": {FINGERPRINT: fingerprint(report, finding)},
        "properties": {
            "sink": escape(report.facts.sink),
            "shards": [escape(shard) for shard in finding.shards],
            "lossFrom": None if starts is None else instant(starts),
        },
    }


def _locations(report: AuditReport, finding: Finding) -> list[Object]:
    if not finding.shards:
        return [logical(report.facts.sink, report.facts.sink, "sink")]
    arn = report.lineage.stream.arn
    return [logical(shard, f"{arn}/{shard}", "shard") for shard in finding.shards]
