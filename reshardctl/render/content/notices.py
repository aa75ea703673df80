"""Results as notices of a run of CI: one for each finding, and one that says what there is in all.

Plans, fixes and undos are notices, because they are no defects of a commit. The worst come first: a
step of GitHub shows ten errors, ten warnings and ten notices.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from reshardctl.diagnosis.rules import Severity
from reshardctl.errors import ReshardError
from reshardctl.model import Step
from reshardctl.render.content import audit
from reshardctl.render.content.findings import title
from reshardctl.render.content.lines import plan_lines
from reshardctl.render.content.roundup import expired, result, total
from reshardctl.render.content.subjects import of_audit, of_report
from reshardctl.render.content.undo import nothing
from reshardctl.render.content.verdict import tally
from reshardctl.render.context import Context
from reshardctl.render.document import Notice, Subject
from reshardctl.render.words import command, journal_of, shards, shortened
from reshardctl.report.audit import AuditReport
from reshardctl.report.changes import changes
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Fixed, Planned, Roundup, Undoing

KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
ROWS = 30
"""Rows that one notice names."""


def _findings(subject: Subject, verbose: bool) -> list[Notice]:
    return [
        Notice(
            KINDS[finding.severity], title(finding),
            [subject.name, *subject.sentences(finding, verbose)],
        )
        for finding in subject.findings
    ]


def _of_report(report: Report, context: Context) -> list[Notice]:
    """The findings, and a notice for everything without which they would be misread."""
    subject = of_report(report)
    caveats = [
        Notice("notice", "reshardctl: note", [subject.name, caveat]) for caveat in report.caveats
    ]
    return [*_findings(subject, context.verbose), *caveats]


def report_notices(report: Report, context: Context) -> list[Notice]:
    """The findings, then what there is in all."""
    lines = [_name(report), tally(report)]
    if report.findings:
        lines.append(" ".join(command("inspect", *context.suggested_command)))
    return [*_of_report(report, context), Notice("notice", "reshardctl inspect", lines)]


def audit_notices(report: AuditReport, context: Context) -> list[Notice]:
    """The findings, then what there is in all."""
    subject = of_audit(report)
    sink = " ".join([subject.name, *audit.sink_words(report)])
    last = Notice("notice", "reshardctl audit", [sink, *subject.told])
    return [*_findings(subject, context.verbose), last]


def roundup_notices(roundup: Roundup, context: Context) -> list[Notice]:
    """Every finding, every consumer that could not be judged, then one notice that counts."""
    kinds = list(KINDS.values())
    notices = [notice for entry in roundup.entries for notice in _of_entry(entry, context)]
    notices.sort(key=lambda notice: kinds.index(notice.kind))
    lines = [total(roundup), *(f"{entry.name}: {result(entry)}" for entry in roundup.entries)]
    lines.append(" ".join(command("inspect", *roundup.again)))
    return [*notices, Notice("notice", "reshardctl inspect", lines)]


def _of_entry(entry: Entry, context: Context) -> list[Notice]:
    own: list[Notice] = []
    if entry.failure is not None:
        own = [failure_notice(entry.failure)]
    elif entry.report is not None:
        own = _of_report(entry.report, context)
    own += [
        Notice("warning", "suppression expired", [expired(suppression)])
        for suppression in entry.sifted.expired
    ]
    return [replace(notice, origin=entry.origin, name=entry.name) for notice in own]


def plan_notice(planned: Planned, context: Context) -> Notice:
    """A line a row that fix would write, or the reason for no plan."""
    lines = _some(plan_lines(planned.report, context.verbose))
    if (saved := planned.saved) is not None:
        lines.append(f"plan saved in {saved.path} (sha256 {saved.digest})")
    if planned.dry_run:
        lines.append("Nothing was written.")
    return Notice("notice", "reshardctl fix", lines)


def fix_notices(outcome: Fixed, context: Context) -> list[Notice]:
    """What was written, its journal; then a notice for every finding left."""
    lines = [_name(outcome.before), *outcome.after.caveats]
    lines += _rows(outcome.before, outcome.steps, context)
    lines += [f"journal {outcome.journal}", f"now: {tally(outcome.after)}"]
    written = Notice("notice", "reshardctl fix: written", lines)
    return [written, *_findings(of_report(outcome.after), context.verbose)]


def undo_notice(undoing: Undoing, context: Context) -> Notice:
    """A line a row that is put back."""
    lines = [_name(undoing.now), *_rows(undoing.now, undoing.steps, context)]
    if not undoing.steps:
        lines.append(nothing(undoing))
    lines += [f"stays: {line}" for line in undoing.kept]
    lines.append(f"journal {undoing.journal}")
    if undoing.after is not None:
        lines.append(f"after: {tally(undoing.after)}")
    if undoing.written is None and undoing.dry_run:
        lines.append("Nothing was written.")
    return Notice("notice", "reshardctl undo", lines)


def failure_notice(failure: ReshardError) -> Notice:
    """What happened, what next, and the journal where there is one."""
    journal = journal_of(failure)
    lines = [failure.what, failure.next, f"journal {journal}" if journal else ""]
    return Notice("error", f"reshardctl: {failure.exit.kind}", list(filter(None, lines)))


def _rows(report: Report, steps: Iterable[Step], context: Context) -> list[str]:
    return _some([
        f"{shards((row.shard,), context.verbose)} {row.action} "
        f"{shortened(row.now or '-', context.verbose)} -> "
        f"{shortened(row.after or '-', context.verbose)}"
        for row in changes(report, steps)
    ])


def _some(lines: list[str]) -> list[str]:
    hidden = len(lines) - ROWS
    return lines if hidden <= 0 else [*lines[:ROWS], f"and {hidden} more"]


def _name(report: Report) -> str:
    return report.snapshot.locator.text
