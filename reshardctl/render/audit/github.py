"""For GitHub Actions: an annotation for every finding, then one notice that counts them."""

from __future__ import annotations

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.render.audit.words import quoted, remarks, sentences, sink_words, total
from reshardctl.render.context import Context
from reshardctl.render.github import COMMANDS, annotation
from reshardctl.render.plain import title


def audit(report: AuditReport, context: Context) -> str:
    """The worst come first: a step shows ten of a kind."""
    found = [
        annotation(
            COMMANDS[finding.severity], title(finding),
            [report.facts.sink, *sentences(report, finding, context.verbose)], context,
        )
        for finding in report.findings
    ]
    lines = [
        " ".join([report.facts.sink, *sink_words(report)]), total(report), *remarks(report),
        *(f"{' '.join(quoted(way))}   ({way.why})" for way in report.ways),
    ]
    return "".join([*found, annotation("notice", "reshardctl audit", lines, context)])
