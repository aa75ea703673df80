"""For dashboards of tests: a suite for the sink, a case for every rule on sinks.

What the stream alone would tell is skipped where it was not read, never passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.diagnosis.rules import SINKS, Finding, Rule, Severity, Sink
from reshardctl.model.times import instant
from reshardctl.render.audit.words import quoted, remarks, sentences, total
from reshardctl.render.context import Context
from reshardctl.render.escape import escape
from reshardctl.render.junit import bare_suite, document, lines, properties
from reshardctl.render.plain import title
from reshardctl.render.words import shards, shortened

OF_STREAM = "not looked at: audit --against-stream does"
OF_CONSUMER = "not looked at: audit --consumer does"
OF_ORDER = "not looked at: nothing tells in which order rows came (--column order=COLUMN)"


def audit(report: AuditReport, context: Context) -> str:
    """One suite."""
    suite = bare_suite(report.facts.sink, report.facts.taken)
    stream = report.lineage.stream
    properties(suite, {"stream": stream.arn, "created": instant(stream.created)})
    skipped = _skipped(report)
    for rule in SINKS:
        found = [f for f in report.findings if f.code == rule.code]
        _case(suite, report, rule, found, context, skipped.get(rule.code, ""))
    ways = [f"{' '.join(quoted(way))}   ({way.why})" for way in report.ways]
    SubElement(suite, "system-out").text = lines([total(report), *remarks(report), *ways])
    return document([suite])


def _skipped(report: AuditReport) -> dict[str, str]:
    found: dict[str, str] = {}
    if not report.against_stream:
        found |= {"RSH501": OF_STREAM, "RSH508": OF_STREAM}
    if report.stored is None:
        found |= {"RSH506": OF_CONSUMER, "RSH507": OF_CONSUMER}
    if all(one.disordered is None for one in report.facts.shards.values()):
        found["RSH503"] = OF_ORDER
    return found


def _case(
    suite: Element, report: AuditReport, rule: Rule[Sink], found: Sequence[Finding],
    context: Context, skipped: str,
) -> None:
    """One rule. Several findings of it are one failure: Jenkins reads the first only."""
    form = escape(report.facts.form).replace(".", "_")
    case = SubElement(
        suite, "testcase", classname=f"reshardctl.audit.{form}", name=f"{rule.code} {rule.name}"
    )
    grave = [f for f in found if f.severity > Severity.INFO]
    said = [
        line for f in (grave or found)
        for line in [f"{f.severity} {title(f)}", *sentences(report, f, context.verbose)]
    ]
    if grave:
        named = f"{shards(grave[0].shards)}: " if grave[0].shards else ""
        lead = shortened(f"{named}{grave[0].what}", context.verbose)
        kind = str(grave[0].severity)
        SubElement(case, "failure", type=kind, message=escape(lead)).text = lines(said)
    elif found:
        SubElement(case, "system-out").text = lines(said)
    elif skipped:
        SubElement(case, "skipped", message=skipped)
