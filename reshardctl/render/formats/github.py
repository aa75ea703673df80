"""For GitHub Actions: workflow commands, which the runner turns into annotations.

`::error title=RSH203 child-not-started::…`, escaped as actions/toolkit does (packages/core,
command.ts). No file and no line are given: a table has none, and GitHub then shows the annotation
on the run. A step shows ten errors, ten warnings and ten notices; the worst come first, and the
last command counts all. Plans, fixes and undos are notices: they are no defects of a commit.
Annotations on one of several consumers are in the file and at the line that name it, where GitHub
shows them in the changed files of a pull request.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from reshardctl.diagnosis.rules import Severity
from reshardctl.errors import ReshardError
from reshardctl.model import Step
from reshardctl.render.content import audit as audit_words
from reshardctl.render.content.findings import title
from reshardctl.render.content.lines import plan_lines
from reshardctl.render.content.plan import nothing
from reshardctl.render.content.report import tally
from reshardctl.render.content.roundup import expired, result, total
from reshardctl.render.context import Context
from reshardctl.render.document import Document
from reshardctl.render.escape import ascii_only, cut, escape
from reshardctl.render.subjects import Subject, of_audit, of_report
from reshardctl.render.words import command, journal_of, kind_of, shards, shortened
from reshardctl.report.audit import AuditReport
from reshardctl.report.changes import changes
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Fixed, Planned, Roundup, Undoing

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
LONGEST = 4000
"""Characters of a message: the runner keeps 4096 (actions/runner, ExecutionContext)."""
ROWS = 30
"""Rows that one notice names."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One workflow command. kind: error, warning or notice. origin: a file and its line."""

    kind: str
    heading: str
    lines: Iterable[str]
    origin: tuple[str, int] | None = None
    name: str = ""

    def text(self, plain: bool) -> str:
        """On one line; texts of a store are made harmless before ours are joined.

        plain: nothing beyond ASCII is written.
        """
        message = cut("\n".join(escape(line) for line in self.lines), LONGEST)
        message = _data(ascii_only(message) if plain else message)
        where = name = ""
        if self.origin is not None:
            where = f"file={_property(escape(self.origin[0]))},line={self.origin[1]},"
            name = f"{_data(escape(self.name))}: "
        return f"::{self.kind} {where}title={_property(self.heading)}::{name}{message}\n"


def write(document: Document[Any]) -> str:
    """An annotation for every finding, and one notice: what there is in all, or was written."""
    plain = document.context.ascii
    return "".join(annotation.text(plain) for annotation in _annotations(document))


def _annotations(document: Document[Any]) -> list[Annotation]:
    context = document.context
    match document.result:
        case Report() as report:
            return _report(report, context)
        case Planned() as planned:
            return [_plan(planned, context)]
        case Fixed() as outcome:
            return _fixed(outcome, context)
        case Undoing() as undoing:
            return [_undo(undoing, context)]
        case AuditReport() as audit:
            return _audit(audit, context)
        case Roundup() as roundup:
            return _roundup(roundup, context)
        case ReshardError() as failure:
            return [_failed(failure)]
        case other:
            raise TypeError(f"{type(other).__name__} is not shown as annotations")


def _findings(subject: Subject, context: Context) -> list[Annotation]:
    """Worst first: a step shows ten of a kind."""
    return [
        Annotation(
            COMMANDS[finding.severity], title(finding),
            [subject.name, *subject.sentences(finding, context.verbose)],
        )
        for finding in subject.findings
    ]


def _of_report(report: Report, context: Context) -> list[Annotation]:
    """The findings, and a notice for everything without which they would be misread."""
    subject = of_report(report)
    caveats = [
        Annotation("notice", "reshardctl: note", [subject.name, caveat])
        for caveat in report.caveats
    ]
    return [*_findings(subject, context), *caveats]


def _report(report: Report, context: Context) -> list[Annotation]:
    lines = [_name(report), tally(report)]
    if report.findings:
        lines.append(" ".join(command("inspect", *context.suggested_command)))
    last = Annotation("notice", "reshardctl inspect", lines)
    return [*_of_report(report, context), last]


def _audit(report: AuditReport, context: Context) -> list[Annotation]:
    subject = of_audit(report)
    lines = [
        " ".join([subject.name, *audit_words.sink_words(report)]), audit_words.total(report),
        *subject.remarks,
        *(f"{' '.join(audit_words.quoted(way))}   ({way.why})" for way in report.ways),
    ]
    return [*_findings(subject, context), Annotation("notice", "reshardctl audit", lines)]


def _roundup(roundup: Roundup, context: Context) -> list[Annotation]:
    """Every finding, every consumer that could not be judged, then one notice that counts."""
    kinds = list(COMMANDS.values())
    annotations = [
        annotation for entry in roundup.entries for annotation in _of_entry(entry, context)
    ]
    annotations.sort(key=lambda annotation: kinds.index(annotation.kind))
    lines = [total(roundup), *(f"{entry.name}: {result(entry)}" for entry in roundup.entries)]
    lines.append(" ".join(command("inspect", *roundup.again)))
    return [*annotations, Annotation("notice", "reshardctl inspect", lines)]


def _of_entry(entry: Entry, context: Context) -> list[Annotation]:
    own: list[Annotation] = []
    if entry.failure is not None:
        own = [_failed(entry.failure)]
    elif entry.report is not None:
        own = _of_report(entry.report, context)
    own += [
        Annotation("warning", "suppression expired", [expired(suppression)])
        for suppression in entry.sifted.expired
    ]
    return [replace(annotation, origin=entry.origin, name=entry.name) for annotation in own]


def _plan(planned: Planned, context: Context) -> Annotation:
    """A line a row that fix would write, or the reason for no plan."""
    lines = _some(plan_lines(planned.report, context.verbose))
    if (saved := planned.saved) is not None:
        lines.append(f"plan saved in {saved.path} (sha256 {saved.digest})")
    if planned.dry_run:
        lines.append("Nothing was written.")
    return Annotation("notice", "reshardctl fix", lines)


def _fixed(outcome: Fixed, context: Context) -> list[Annotation]:
    """What was written, its journal; then an annotation for every finding left."""
    lines = [_name(outcome.before), *outcome.after.caveats]
    lines += _rows(outcome.before, outcome.steps, context)
    lines += [f"journal {outcome.journal}", f"now: {tally(outcome.after)}"]
    written = Annotation("notice", "reshardctl fix: written", lines)
    return [written, *_findings(of_report(outcome.after), context)]


def _undo(undoing: Undoing, context: Context) -> Annotation:
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
    return Annotation("notice", "reshardctl undo", lines)


def _failed(failure: ReshardError) -> Annotation:
    """What happened, what next, and the journal where there is one."""
    journal = journal_of(failure)
    lines = [failure.what, failure.next, f"journal {journal}" if journal else ""]
    return Annotation("error", f"reshardctl: {kind_of(failure)}", list(filter(None, lines)))


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


def _data(text: str) -> str:
    """A text as a message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A text as a property's value."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
