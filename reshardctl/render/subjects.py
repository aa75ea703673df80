"""What findings are about, a consumer or a sink, as every format for programs reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from reshardctl.diagnosis.rules import Finding
from reshardctl.model import Stream
from reshardctl.render.content import audit
from reshardctl.render.content.findings import sentences
from reshardctl.report.audit import AuditReport
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned, Undoing


@dataclass(frozen=True, slots=True)
class Subject:
    """A consumer or a sink with its findings.

    kind: `consumer` or `sink`. name: the consumer's locator, or the sink's own name. identity:
    what stays the same between two looks at it, whatever its options. taken: Unix seconds at
    which it was read. sentences: what a finding is, what it costs, by when, and what helps; the
    second argument asks for whole ids and numbers. remarks: what has to be said besides.
    """

    kind: str
    name: str
    identity: tuple[str, str]
    stream: Stream
    taken: float
    findings: tuple[Finding, ...]
    sentences: Callable[[Finding, bool], list[str]]
    remarks: tuple[str, ...]


def of_report(report: Report) -> Subject:
    """The consumer of a report."""
    snapshot = report.snapshot
    locator = snapshot.locator
    return Subject(
        "consumer", locator.text,
        (locator.consumer, snapshot.store.get("arn", locator.target)),
        snapshot.lineage.stream, snapshot.now, report.findings, partial(sentences, report),
        tuple(report.notes),
    )


def of_audit(report: AuditReport) -> Subject:
    """The sink of an audit."""
    facts = report.facts
    return Subject(
        "sink", facts.sink, ("sink", facts.sink), report.lineage.stream, facts.taken,
        tuple(report.findings), partial(audit.sentences, report),
        tuple(audit.remarks(report)),
    )


def report_now(result: Report | Planned | Fixed | Undoing) -> Report | None:
    """The report on the rows as they are once the command ended; `None` where no row is left."""
    match result:
        case Report():
            return result
        case Planned():
            return result.report
        case Fixed():
            return result.after
        case Undoing():
            return result.now if result.written is None else result.after
