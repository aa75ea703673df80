"""For pipes: one line a finding, each beginning with the sink.

`SINK: SHARDS CODE name: what (severity, until when)`.
"""

from __future__ import annotations

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.diagnosis.rules import Finding
from reshardctl.render.audit.words import by_when
from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.words import shards, shortened


def audit(report: AuditReport, context: Context) -> str:
    """Nothing where there is no finding."""
    lines = [escape(_finding(report, f, context.verbose)) for f in report.findings]
    if context.ascii:
        lines = [ascii_only(line) for line in lines]
    return "".join(f"{line}\n" for line in lines)


def _finding(report: AuditReport, finding: Finding, verbose: bool) -> str:
    named = shards(finding.shards, verbose).replace(", ", ",") or "-"
    said = "; ".join(shortened(part, verbose) for part in (finding.what, finding.costs) if part)
    when = by_when(finding, report.facts.taken)
    harms = ", ".join(part for part in (str(finding.severity), when) if part)
    rule = f"{finding.code} {finding.name}"
    return f"{report.facts.sink}: {named} {rule}: {said} ({harms})"
