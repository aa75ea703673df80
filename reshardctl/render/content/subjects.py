"""What findings are about, a consumer or a sink, as dashboards and code scanning read it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from msgspec.structs import replace

from reshardctl.diagnosis.rules import SINKS, STARTS, Rule
from reshardctl.model import Step
from reshardctl.render.content import audit
from reshardctl.render.content.findings import sentences
from reshardctl.render.content.roundup import hidden, remarks
from reshardctl.render.content.verdict import tally
from reshardctl.render.document import Check, Rows, Subject
from reshardctl.report.audit import AuditReport
from reshardctl.report.changes import changes
from reshardctl.report.report import Report
from reshardctl.report.results import Entry

ELSEWHERE = {
    "RSH401": "not checked: fix and undo check it before they write",
    "RSH901": "never a finding: a failed read ends the command with exit code 3",
}
"""Rules that no report can match."""
UNWATCHED = {"RSH403": "not checked: inspect --watch checks it"}
UNJUDGED = "not checked: the store holds no position"
OF_STREAM = "not checked: audit without --alone checks it"
OF_CONSUMER = "not checked: audit --consumer checks it"
OF_ORDER = "not checked: name the column with the order of the rows (--column order=COLUMN)"


def of_report(report: Report) -> Subject:
    """The consumer of a report."""
    snapshot = report.snapshot
    locator = snapshot.locator
    skipped = ELSEWHERE if snapshot.watched is not None else ELSEWHERE | UNWATCHED
    if not report.judged:
        skipped = {rule.code: UNJUDGED for rule in STARTS} | skipped
    return Subject(
        "consumer", locator.text,
        identity=(locator.consumer, snapshot.store.get("arn", locator.target)),
        stream=snapshot.lineage.stream, taken=snapshot.now,
        group=(locator.consumer, locator.target), findings=report.findings,
        sentences=partial(sentences, report), remarks=tuple(report.notes),
        told=(tally(report), *report.notes), checks=_checks(STARTS, skipped),
    )


def of_audit(report: AuditReport) -> Subject:
    """The sink of an audit."""
    facts = report.facts
    skipped: dict[str, str] = {}
    if not report.against_stream:
        skipped |= {"RSH501": OF_STREAM, "RSH508": OF_STREAM}
    if report.stored is None:
        skipped |= {"RSH506": OF_CONSUMER, "RSH507": OF_CONSUMER}
    if all(sink.disordered is None for sink in facts.shards.values()):
        skipped["RSH503"] = OF_ORDER
    notes = tuple(audit.remarks(report))
    ways = (f"{' '.join(audit.quoted(way))}   ({way.why})" for way in report.ways)
    return Subject(
        "sink", facts.sink, identity=("sink", facts.sink), stream=report.lineage.stream,
        taken=facts.taken, group=("auditing", facts.form), findings=tuple(report.findings),
        sentences=partial(audit.sentences, report), remarks=notes,
        told=(audit.total(report), *notes, *ways), checks=_checks(SINKS, skipped),
    )


def of_entry(entry: Entry) -> Subject:
    """One consumer among several: by its own name, with what is suppressed."""
    notes = tuple(remarks(entry))
    if entry.report is None:
        return Subject(
            "consumer", entry.name, called=entry.name, origin=entry.origin, place=entry.stream,
            failure=entry.failure, remarks=notes, exit=entry.exit,
        )
    subject = of_report(entry.report)
    kept = {finding.code for finding in entry.sifted.kept}
    why: dict[str, list[str]] = {}
    for finding, by in entry.sifted.hidden:
        if finding.code not in kept:
            why.setdefault(finding.code, []).append(hidden(finding, by))
    return replace(
        subject, called=entry.name, origin=entry.origin, exit=entry.exit,
        remarks=(*subject.remarks, *notes), told=(*subject.told, *notes),
        suppressed=tuple((finding, by.why) for finding, by in entry.sifted.hidden),
        checks=tuple(
            replace(check, skipped=tuple(why.get(check.code, check.skipped)))
            for check in subject.checks
        ),
    )


def of_rows(
    verb: str, report: Report, steps: Iterable[Step], *, done: bool, **facts: str
) -> Rows:
    """The rows that a plan, a fix or an undo writes. facts: where the plan or the journal is."""
    snapshot = report.snapshot
    return Rows(
        verb, snapshot.locator.text, (snapshot.locator.consumer, snapshot.locator.target),
        snapshot.now, tuple(changes(report, steps)), done, facts,
    )


def _checks(rules: Iterable[Rule[Any]], skipped: dict[str, str]) -> tuple[Check, ...]:
    return tuple(
        Check(rule.code, rule.name, (skipped[rule.code],) if rule.code in skipped else ())
        for rule in rules
    )
